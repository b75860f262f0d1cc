"""Messages of both worlds: who, when, what, in whatever code page; what is attached, and what is not."""

from __future__ import annotations

import struct

import pytest
from tests import ole_files, sample_files

from kaijuan.core.documents import ParsedDocument
from kaijuan.errors import BrokenDocumentError
from kaijuan.ingest.mail.compressed_rtf import unpacked
from kaijuan.ingest.mail.message import Attachment, Body, Mail, to_mime
from kaijuan.ingest.mail.mime import read_mime
from kaijuan.ingest.mail.outlook import read_outlook
from kaijuan.ingest.parsers.mail import EmlParser, MsgParser

TICKS = 133_511_400_000_000_000
"""2024-01-31 02:00 UTC in 100 nanoseconds since 1601."""


def shown(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(str(block.kind), block.span.of(document.text)) for block in document.blocks]


def test_an_email() -> None:
    document = EmlParser().parse(sample_files.EML, "m.eml")
    assert document.title == "会议"
    assert dict(document.metadata) == {
        "author": "李雷 <li@example.org>",
        "recipients": ("han@example.org", "Wang, Wu <wu@example.org>"),
        "sent": "2024-01-31T10:00:00+08:00",
        "message_id": "m1@example.org",
    }
    assert shown(document) == [
        ("heading", "会议"),
        (
            "list",
            "From: 李雷 <li@example.org>\nTo: han@example.org, Wang, Wu <wu@example.org>\n"
            "Date: 2024-01-31 10:00:00+08:00\nAttachments: note.txt",
        ),
        ("paragraph", "会议在周一，needle。"),
        ("quote", "旧话\n再一句"),
    ]


def test_recipients_that_the_library_cannot_part_cost_no_message() -> None:
    # Found by bench/fuzz_parsers: it calls itself for each group within a group.
    data = sample_files.EML.replace(b"To: ", b"To: " + b"a: " * 3_000, 1)
    message = read_mime(data, "m.eml")
    assert message.subject == "会议"
    assert message.to == ()
    assert message.sender == "李雷 <li@example.org>"


def test_the_page_is_read_where_it_has_a_table_or_stands_alone() -> None:
    head = b"From: a@b\nSubject: s\nContent-Type: multipart/alternative; boundary=b\n\n"
    plain = b"--b\nContent-Type: text/plain\n\nwords\n"
    page = b"--b\nContent-Type: text/html\n\n<p>page</p>%b\n--b--\n"
    table = b"<table><tr><th>x<th>y<tr><td>1<td>2</table>"
    assert shown(EmlParser().parse(head + plain + page % b"", "m"))[2:] == [("paragraph", "words")]
    assert shown(EmlParser().parse(head + page % b"", "m"))[2:] == [("paragraph", "page")]
    assert [kind for kind, _ in shown(EmlParser().parse(head + plain + page % table, "m"))][2:] == [
        "paragraph",
        "table",
    ]


@pytest.mark.parametrize(
    ("header", "subject"),
    [
        (b"=?utf-8?B?5Lya6K6u?= =?utf-8?B?6YCa55+l?=", "会议通知"),
        ("会议通知，请准时参加，谢谢大家。".encode("gb18030"), "会议通知，请准时参加，谢谢大家。"),
        ("会议通知".encode(), "会议通知"),
        (b"=?x-none?Q?abc?=", "abc"),
        (b"=?utf-8?B?broken", "=?utf-8?B?broken"),
    ],
)
def test_subjects_are_read_however_they_were_written(header: bytes, subject: str) -> None:
    assert read_mime(b"From: a@b\nSubject: " + header + b"\n\nx", "m").subject == subject


@pytest.mark.parametrize("page", [0, 936, 950])
def test_an_outlook_message_in_any_code_page(page: int) -> None:
    words = "會議在週一，請準時" if page == 950 else "会议在周一，请准时"
    data = ole_files.msg({0x0037: "通知", 0x0C1A: "李雷", 0x5D01: "li@example.org", 0x1000: words}, page=page)
    mail = read_outlook(data, "m.msg")
    assert (mail.subject, mail.sender, mail.bodies) == ("通知", "李雷 <li@example.org>", (Body(plain=words),))


def test_recipients_attachments_and_messages_within() -> None:
    inner = ole_files.message_part({0x0037: "里面", 0x1000: "inner words"}, head=24)
    parts: ole_files.Tree = {
        "__recip_version1.0_#00000000": ole_files.message_part(
            {0x3001: "韩梅梅", 0x39FE: "han@example.org"}, {0x0C15: 1}
        ),
        "__recip_version1.0_#00000001": ole_files.message_part({0x3001: "王五"}, {0x0C15: 2}),
        "__attach_version1.0_#00000000": ole_files.message_part({0x3707: "报告.txt", 0x3701: b"report"}, {0x3705: 1}),
        "__attach_version1.0_#00000001": ole_files.message_part(
            {0x3707: "logo.png", 0x3701: b"x", 0x3712: "id"}, {0x3705: 1}
        ),
        "__attach_version1.0_#00000002": {
            **ole_files.message_part({0x3001: "转发"}, {0x3705: 5}),
            "__substg1.0_3701000D": inner,
        },
    }
    data = ole_files.msg({0x0037: "外面", 0x1013: "<p>页面</p>".encode()}, parts=parts)
    mail = read_outlook(data, "m.msg")
    assert (mail.to, mail.copies) == (("韩梅梅 <han@example.org>",), ("王五",))
    assert [attachment.name for attachment in mail.attachments] == ["报告.txt", "转发.eml"]
    assert mail.attachments[0].data == b"report"
    within = read_mime(mail.attachments[1].data, "x.eml")
    assert (within.subject, within.bodies[0].plain.strip()) == ("里面", "inner words")
    assert read_outlook(data, "m.msg") == mail, "the same file gives the same attachments"
    assert shown(MsgParser().parse(data, "m.msg"))[-1] == ("paragraph", "页面")


def test_when_an_outlook_message_was_sent() -> None:
    streams = {"__properties_version1.0": bytes(32) + struct.pack("<HHIQ", 0x0040, 0x0039, 6, TICKS)}
    mail = read_outlook(ole_files.container({**streams, "__substg1.0_0037001F": "题".encode("utf-16-le")}), "m.msg")
    assert mail.sent == "2024-01-31T02:00:00+00:00"


def test_a_body_in_compressed_rich_text() -> None:
    # The example of the specification, [MS-OXRTFCP] 3.1.
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
    )
    assert unpacked(packed) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    data = ole_files.msg({0x0037: "s", 0x1009: packed})
    assert read_outlook(data, "m.msg").bodies[0].plain == "hello world"


def test_a_container_that_is_no_message_is_broken() -> None:
    with pytest.raises(BrokenDocumentError):
        read_outlook(ole_files.container({"x": b"y"}), "m.msg")


def test_a_message_written_as_an_email_reads_the_same() -> None:
    mail = Mail(
        subject="题",
        sender="李雷 <li@example.org>",
        to=("a@example.org",),
        sent="2024-01-31T10:00:00+08:00",
        id="m1",
        bodies=(Body(plain="正文\n第二行\n"),),
        attachments=(Attachment(name="附件.txt", data=b"abc"),),
    )
    assert read_mime(to_mime(mail), "m.eml") == mail
    assert to_mime(mail) == to_mime(mail)
