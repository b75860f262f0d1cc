"""Write the PDF and the DOCX among the sample documents; the other samples are written by hand.

    pip install reportlab
    apt-get download fonts-lxgw-wenkai && dpkg -x fonts-lxgw-wenkai_*.deb fonts
    python bench/make_samples.py --regular fonts/usr/.../LXGWWenKai-Regular.ttf --bold fonts/usr/.../LXGWWenKai-Bold.ttf

The glyphs that occur are embedded in the PDF, because a PDF that only names a Chinese font shows blanks on a machine
without one. LXGW WenKai is under the SIL Open Font License 1.1, which allows embedding in documents. Both files come
out byte for byte the same each time.
"""

from __future__ import annotations

import argparse
import datetime
import io
import zipfile
from pathlib import Path
from typing import Any

import docx
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

DOCUMENTS = Path(__file__).resolve().parent.parent / "src" / "kaijuan" / "samples" / "documents"

Step = tuple[str, Any]

MANUAL: list[Step] = [
    ("title", "青禾 Q7 边缘网关产品手册"),
    ("text", "文件编号 QH-PM-207，适用固件 v2.3.1，2025 年 4 月修订。"),
    ("heading", "1 产品概述"),
    (
        "text",
        "Q7 边缘网关用于连接温室传感器和云平台，最多接入 64 个传感器节点。"
        "设备把数据缓存在本地，断网时可保存 72 小时的数据，网络恢复后自动补传。",
    ),
    ("text", "Q7 的防护等级为 IP65，工作温度为 -20 ℃ 至 60 ℃，额定功率 12 W，质保期 36 个月。"),
    ("heading", "2 技术参数"),
    (
        "table",
        [
            ["项目", "参数"],
            ["型号", "QH-Q7-64"],
            ["供电", "DC 24 V，允许偏差 ±10%"],
            ["无线频段", "470–510 MHz"],
            ["以太网接口", "2 个，10/100 Mbps"],
            ["外形尺寸", "186 mm × 124 mm × 48 mm"],
            ["净重", "0.85 kg"],
        ],
    ),
    ("heading", "3 安装"),
    ("text", "请用四颗 M8×1.25 螺栓把网关固定在支架上，拧紧力矩为 18 N·m，不得使用 M8×1.0 的细牙螺栓。"),
    ("text", "天线与金属物体的距离不小于 30 cm。安装完成后接通电源，指示灯应在 40 秒内变为绿色常亮。"),
    ("page", None),
    ("heading", "4 故障代码"),
    ("text", "网关出现故障时，面板显示以 ERR 开头的代码。处理前请先记录代码和出现的时间。"),
    ("subheading", "4.1 ERR-9981"),
    (
        "text",
        "ERR-9981 表示传感器节点离线超过 10 分钟。请检查节点电池，电压低于 3.1 V 时更换电池，然后在平台上重新入网。",
    ),
    ("subheading", "4.2 ERR-9988"),
    (
        "text",
        "ERR-9988 表示固件校验失败。请断电 30 秒后重新启动；如果仍然报 ERR-9988，请用 U 盘重新写入固件 v2.3.1，"
        "写入过程约需 6 分钟，期间不得断电。",
    ),
    ("subheading", "4.3 ERR-9989"),
    ("text", "ERR-9989 表示本地存储已满。请检查网络是否中断超过 72 小时，恢复网络后等待数据补传完成。"),
    ("subheading", "4.4 ERR-9001"),
    ("text", "ERR-9001 表示供电电压超出允许范围。请测量电源输出，正常值为 21.6 V 至 26.4 V。"),
    ("heading", "5 维护"),
    ("text", "每 6 个月清洁一次散热片，每 24 个月更换一次密封圈，密封圈的料号为 QH-SP-0315。"),
    ("page", None),
    ("heading", "6 固件升级"),
    ("text", "固件 v2.3.1 于 2025 年 4 月 8 日发布，修复了 v2.2.0 在低温下误报 ERR-9988 的问题。"),
    ("text", "从 v2.1.x 升级时必须先升级到 v2.2.0，再升级到 v2.3.1，不能跳级。升级前请导出配置，文件后缀为 .qhcfg。"),
    ("heading", "7 售后服务"),
    (
        "text",
        "售后服务时间为每天 8:00 至 20:00，邮箱为 support@qinghe.example。质保期内返修免收运费，15 个工作日内寄回。",
    ),
]

TRAVEL: list[Step] = [
    ("title", "青禾科技差旅管理办法（2025 版）"),
    ("text", "文件编号：QH-HR-012，版本 v2.0，自 2025 年 1 月 1 日起施行。"),
    ("text", "本办法取代 2023 年 3 月 1 日施行的 QH-HR-012 v1.0，旧版同时废止。"),
    ("heading", "一、出差审批"),
    (
        "text",
        "员工出差须提前 1 个工作日在 OA 系统提交出差申请，由直属主管审批。单次出差超过 10 天的，还须部门总监审批。",
    ),
    ("heading", "二、交通标准"),
    ("text", "高铁可乘坐二等座，行程超过 6 小时的可乘坐一等座。飞机可乘坐经济舱，由差旅平台统一预订。"),
    ("heading", "三、住宿标准"),
    ("text", "2025 版规定的住宿费上限如下："),
    (
        "table",
        [
            ["城市类别", "每晚上限（元）"],
            ["一线城市（北京、上海、广州、深圳）", "600"],
            ["省会城市和计划单列市", "450"],
            ["其他城市", "350"],
        ],
    ),
    ("text", "按 2025 版的规定，一线城市住宿费每晚上限为 600 元，展会期间经部门总监批准可以上浮 20%。"),
    ("heading", "四、伙食补助"),
    ("text", "出差期间伙食补助为每人每天 100 元，出发当天和返回当天按全天计算。"),
    ("heading", "五、报销时限"),
    ("text", "出差结束后 15 天内提交报销单，发票以电子发票为准，不再收取纸质行程单。"),
]

DAY = datetime.datetime(2025, 4, 8, 9, 0, 0)
"""Naive, as python-docx wants it."""


class NumberedPages(SimpleDocTemplate):  # type: ignore[misc] # reportlab has no types
    """Pages with their number at the foot, drawn last so that the text layer is in reading order."""

    def afterPage(self) -> None:  # noqa: N802 reportlab's name
        self.canv.setFont("WenKai", 9)
        self.canv.drawCentredString(A4[0] / 2, 32, f"第 {self.page} 页")


def _styles() -> dict[str, ParagraphStyle]:
    base = ParagraphStyle("text", fontName="WenKai", fontSize=11, leading=18, spaceAfter=6, wordWrap="CJK")
    bold = {"parent": base, "fontName": "WenKai-Bold"}
    return {
        "text": base,
        "title": ParagraphStyle("title", fontSize=20, leading=28, spaceAfter=12, **bold),
        "heading": ParagraphStyle("heading", fontSize=15, leading=22, spaceBefore=12, spaceAfter=6, **bold),
        "subheading": ParagraphStyle("subheading", fontSize=12.5, leading=20, spaceBefore=8, spaceAfter=4, **bold),
    }


def _flow(steps: list[Step]) -> list[Flowable]:
    styles = _styles()
    grid = TableStyle(
        [
            ("FONT", (0, 0), (-1, -1), "WenKai", 10.5),
            ("FONT", (0, 0), (-1, 0), "WenKai-Bold", 10.5),
            ("GRID", (0, 0), (-1, -1), 0.5, colors.grey),
            ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
        ]
    )
    flow: list[Flowable] = []
    for name, content in steps:
        if name == "page":
            flow.append(PageBreak())
        elif name == "table":
            flow += [Table(content, colWidths=[150, 260], style=grid, hAlign="LEFT"), Spacer(1, 8)]
        else:
            flow.append(Paragraph(content, styles[name]))
    return flow


def write_pdf(path: Path, regular: Path, bold: Path) -> None:
    """Write the product manual with a real text layer and embedded glyphs."""
    pdfmetrics.registerFont(TTFont("WenKai", str(regular)))
    pdfmetrics.registerFont(TTFont("WenKai-Bold", str(bold)))

    template = NumberedPages(
        str(path),
        pagesize=A4,
        leftMargin=72,
        rightMargin=72,
        title="青禾 Q7 边缘网关产品手册",
        author="青禾科技",
        invariant=1,
    )
    template.build(_flow(MANUAL))


def write_docx(path: Path) -> None:
    """Write the travel rules of 2025 as a Word file with fixed times inside."""
    document = docx.Document()
    document.core_properties.title = "青禾科技差旅管理办法（2025 版）"
    document.core_properties.author = "青禾科技"
    document.core_properties.created = document.core_properties.modified = DAY
    for name, content in TRAVEL:
        if name == "table":
            table = document.add_table(rows=0, cols=len(content[0]), style="Table Grid")
            for row in content:
                for cell, text in zip(table.add_row().cells, row, strict=True):
                    cell.text = text
        elif name == "text":
            document.add_paragraph(content)
        else:
            document.add_heading(content, level=0 if name == "title" else 1)
    packed = io.BytesIO()
    document.save(packed)
    path.write_bytes(_with_fixed_times(packed.getvalue()))


def _with_fixed_times(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            fixed = zipfile.ZipInfo(entry.filename, date_time=(2025, 4, 8, 9, 0, 0))
            fixed.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(fixed, old.read(entry))
    return out.getvalue()


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--regular", type=Path, required=True, help="LXGWWenKai-Regular.ttf")
    parser.add_argument("--bold", type=Path, required=True, help="LXGWWenKai-Bold.ttf")
    given = parser.parse_args()
    write_pdf(DOCUMENTS / "Q7网关产品手册.pdf", given.regular, given.bold)
    write_docx(DOCUMENTS / "差旅管理办法-2025.docx")


if __name__ == "__main__":
    main()
