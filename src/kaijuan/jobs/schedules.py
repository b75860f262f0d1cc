"""When a schedule is due: five fields as cron has them, in the time of this machine."""

from __future__ import annotations

from datetime import datetime

from kaijuan.errors import UsageError


def next_time(schedule: str, after: float) -> float:
    """Return the first moment after `after` (seconds since 1970, UTC) that a schedule names."""
    from cronsim import CronSim, CronSimError  # late: most commands have no schedule

    # Local time without a zone: "at three" means three here, also after the day when clocks are changed.
    start = datetime.fromtimestamp(after)
    try:
        return next(CronSim(schedule, start)).timestamp()
    except (CronSimError, StopIteration) as error:
        raise UsageError(
            f"{schedule!r} is no schedule: {str(error) or 'it is never due'}.",
            hint='Five fields: minute, hour, day, month, weekday, as in "0 3 * * *".',
        ) from error
