"""The guides as pages for a browser: they go with the extension, so that its help is there without a network.

It reads as much of Markdown as docs/ uses. A link to what does not go along stays as words. Standard library only.
"""

from __future__ import annotations

import re
import shutil
from html import escape
from itertools import groupby
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"

PAGES = ("animator", "machines", "capture", "scripting", "operators", "farm", "limits", "benchmarks", "comparison")
"""The guides for people who use the extension; the first is where help begins."""

STYLE = """\
:root { color-scheme: light dark }
body { font: 16px/1.5 sans-serif; max-width: 52em; margin: 2em auto; padding: 0 1em }
img { max-width: 100% } table { border-collapse: collapse } td, th { border: 1px solid #8888; padding: .2em .6em }
pre { overflow-x: auto } pre, code { background: #8882 } th { text-align: left }
"""


def write(folder: Path) -> None:
    """Write all pages into this folder, with the pictures that they show."""
    folder.mkdir()
    for name in PAGES:
        text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        (folder / f"{name}.html").write_text(page(text), encoding="utf-8")
        for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
            shutil.copy(DOCS / picture, folder)


def page(text: str) -> str:
    """A page of HTML, with a line of links to the others above."""
    titles = {name: (DOCS / f"{name}.md").read_text(encoding="utf-8").partition("\n")[0][2:] for name in PAGES}
    others = " · ".join(f'<a href="{name}.html">{escape(title)}</a>' for name, title in titles.items())
    head = f'<meta charset="utf-8"><title>{escape(text.partition(chr(10))[0][2:])}: Planar IK</title>'
    return f"<!doctype html>\n{head}\n<style>\n{STYLE}</style>\n<nav>{others}</nav>\n" + "\n".join(blocks(text)) + "\n"


def blocks(text: str) -> list[str]:
    """The HTML of each block: code, else what stands between empty lines."""
    html = []
    for i, section in enumerate(re.split(r"(?ms)^ *```\w*\n(.*?)^ *```$", text)):
        if i % 2:
            html.append(f"<pre>{escape(section)}</pre>")
        else:
            html += [block(lines.splitlines()) for lines in re.split(r"\n\s*\n", section.strip("\n")) if lines.strip()]
    return html


def block(lines: list[str]) -> str:
    """A heading, a table, a list or a paragraph."""
    if match := re.match(r"(#+) (.+)", lines[0]):
        rank, words = len(match[1]), match[2]
        return f'<h{rank} id="{name_of(words)}">{inline(words)}</h{rank}>'
    if lines[0].startswith("|"):
        return table(lines)
    marks = [re.match(r"(- |\d+\. )", line) for line in lines]
    if marks[0]:
        kind = "ul" if marks[0][0] == "- " else "ol"
        # A line without a mark goes on with the entry above.
        starts = [0]
        for mark in marks[1:]:
            starts.append(starts[-1] + bool(mark))
        entries = [[lines[i] for i in group] for _, group in groupby(range(len(lines)), starts.__getitem__)]
        items = [re.sub(r"^(- |\d+\. )", "", " ".join(line.strip() for line in entry)) for entry in entries]
        return f"<{kind}>\n" + "\n".join(f"<li>{inline(item)}</li>" for item in items) + f"\n</{kind}>"
    return f"<p>{inline(' '.join(line.strip() for line in lines))}</p>"


def table(lines: list[str]) -> str:
    """A table; its second line only rules it."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in (lines[0], *lines[2:])]
    tags = ["th", *["td"] * (len(rows) - 1)]
    html = ["".join(f"<{tag}>{inline(cell)}</{tag}>" for cell in row) for row, tag in zip(rows, tags, strict=True)]
    return "<table>\n" + "\n".join(f"<tr>{row}</tr>" for row in html) + "\n</table>"


def inline(text: str) -> str:
    """Code, pictures, links and what is emphasized within a sentence."""
    codes = re.findall(r"`([^`]+)`", text)
    text = escape(re.sub(r"`[^`]+`", "\0", text), quote=False)  # nothing in code is of Markdown
    text = re.sub(r"!\[([^\]]*)\]\(([^)]+)\)", r'<img src="\2" alt="\1">', text)
    text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", lambda match: anchor(match[1], match[2]), text)
    text = re.sub(r"&lt;(https?://[^&]+)&gt;", r'<a href="\1">\1</a>', text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"(?<!\\)\*(.+?)(?<!\\)\*", r"<i>\1</i>", text).replace("\\*", "*")
    for code in codes:
        text = text.replace("\0", f"<code>{escape(code)}</code>", 1)
    return text


def anchor(words: str, to: str) -> str:
    """A link to another page or to the web; only its words where it leads to what does not go along."""
    name, _, head = to.partition("#")
    if name.removesuffix(".md") in PAGES:
        to = f"{name.removesuffix('.md')}.html" + (f"#{head}" if head else "")
    elif name and "://" not in to:
        return words
    return f'<a href="{to}">{words}</a>'


def name_of(heading: str) -> str:
    """What a link calls a heading, as hosts of repositories do."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
