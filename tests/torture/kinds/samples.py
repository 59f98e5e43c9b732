"""Small whole files of the formats that the program reads and does not write, made with the standard library alone."""

import io
import json
import struct
import zipfile
import zlib

NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
BOOK = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/></Types>',
    "_rels/.rels": f'<Relationships><Relationship Id="r1" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{NAMESPACE}" xmlns:r="{RELATIONS}"><sheets><sheet name="s" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships><Relationship Id="r1" Type="{RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}
MAIL = (
    "From: {name}@example.org\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= {words}\nMIME-Version: 1.0\n"
    "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html; charset=iso-8859-1\n"
    "Content-Transfer-Encoding: quoted-printable\n\n<p>caf=E9 <b>{words}</b></p>\n--b\n"
    'Content-Type: application/pdf; name="x.pdf"\nContent-Transfer-Encoding: base64\n\nAAAA\n--b--\n'
)
WORDS = {"ham": ("see you at noon", "lunch at noon then", "notes of the meeting"), "spam": ("free prize", "free loan now", "a prize now")}


def json_lines(points):
    return "".join(json.dumps({"x": x, "y": {"z": y}, "kind": kind}) + "\n" for kind, x, y in points).encode()


def vowpal_wabbit(points):
    signs = {"a": 1, "b": -1}
    return "".join(f"{signs[kind]} 'row|n x:{x!r} word |m:2 y:{y!r}\n" for kind, x, y in points).encode()


def archive(members):
    """A workbook of these members, whose checksums fit."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members.items():
            out.writestr(name, content)
    return made.getvalue()


def workbook(points):
    rows = ['<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>kind</t></is></c></row>']
    for number, (kind, x, y) in enumerate(points, 2):
        cells = f'<c r="A{number}"><v>{x!r}</v></c><c r="B{number}"><v>{y!r}</v></c><c r="C{number}" t="str"><v>{kind}</v></c>'
        rows.append(f'<row r="{number}">{cells}</row>')
    texts = f'<sst xmlns="{NAMESPACE}" count="2" uniqueCount="2"><si><t>x</t></si><si><t>y</t></si></sst>'
    sheet = f'<worksheet xmlns="{NAMESPACE}"><dimension ref="A1:C7"/><sheetData>{"".join(rows)}</sheetData></worksheet>'
    return archive({**BOOK, "xl/sharedStrings.xml": texts, "xl/worksheets/sheet1.xml": sheet})


def members(workbook):
    with zipfile.ZipFile(io.BytesIO(workbook)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def idx(sizes, values):
    """An IDX file of bytes."""
    return struct.pack(">BBBB", 0, 0, 8, len(sizes)) + struct.pack(f">{len(sizes)}I", *sizes) + bytes(values)


def png(width, height, level):
    """A grey picture; `level` gives that of each place."""
    rows = b"".join(b"\0" + bytes(level(x, y) for x in range(width)) for y in range(height))
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def with_checksums(png):
    """The picture with checksums that fit, as far as its parts can be told from each other."""
    made, at = png[:8], 8
    while at + 12 <= len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        content = png[at + 8 : at + 8 + length]
        made += chunk(png[at + 4 : at + 8], content)
        at += 12 + length
    return made


def mail(name, words):
    return MAIL.format(name=name, words=words).encode()


def mailbox(name, all_words):
    return b"".join(b"From x Mon\n" + mail(name, words) + b"\n" for words in all_words)
