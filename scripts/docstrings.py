#!/usr/bin/env python3
"""Reads the docstrings of a public header: its sections, types and functions, in order.

A docstring is prose followed by parts: `Shapes:`, `Dtypes:`, `Throws ...`, `Example:`. A part that a function leaves
out is that of its section (`// ---- Title ----` and the lines below it), else that of the comment at the head of the
header.
"""
import re

MARK = re.compile(r"(?:(?<=^)|(?<=[.;:)] )|(?<=[.;:)]  )|(?<=\n))"
                  r"(?:(Shapes|Dtypes|Example): |(Shapes, Dtypes): |(?:Every function t|T)(hrows) |(Algorithm): )")

FUNCTION = r"(template <|\[\[|TARRY_EXPORT|constexpr|inline|friend|explicit|Array|std::)"


def split_parts(words):
    """Prose and parts of a docstring, a section or a head."""
    marks, parts = list(MARK.finditer(words)), {}
    for mark, end in zip(marks, [m.start() for m in marks[1:]] + [len(words)]):
        name = next(group for group in mark.groups() if group)
        name = "Throws" if name == "hrows" else name
        for each in name.split(", "):
            parts[each] = words[mark.end():end].strip()
    return words[:marks[0].start() if marks else None].strip(), parts


def prose(lines, prefix):
    """Comment lines as words; an indented block below an empty line stays a block of code."""
    text, code = "", False
    for line in lines:
        line = line.strip().removeprefix(prefix).removeprefix(" ")
        inside = line.startswith("    ")
        if inside != code:
            text = text.rstrip() + ("\n\n```cpp\n" if inside else "\n```\n\n")
            code = inside
        text += line[4:] + "\n" if inside else (line.strip() + " " if line.strip() else "\n\n")
    return re.sub(r"[ ]+\n", "\n", text + ("```" if code else "")).strip()


def tidy(code):
    code = re.sub(r"\[\[nodiscard\]\] |\[\[noreturn\]\] |TARRY_EXPORT |\binline (?=\w)|  // NOLINT.*", "", code)
    return re.sub(r",?\s*Where where = std::source_location::current\(\)", "", code)


def signature(lines):
    code = re.sub(r"\s+", " ", " ".join(lines)).strip()
    code = re.sub(r"^(template <.*?>) (?=[\[A-Za-z])", r"\1\n", code)
    code = re.sub(r"(\)|const|noexcept|&)( : \w+\(.*)?\s*(\{|\{.*\})$", r"\1", code)
    return tidy(code.rstrip("; {")).strip() + ";"


def type_code(lines):
    """What a struct, class or enum shows: its public part without bodies."""
    kept, body_end = [], None
    for line in lines:
        if body_end:
            body_end = None if line == body_end else body_end
        elif line == " private:":
            break
        elif not re.match(r" public:|  friend |      : |  struct |.*= delete", line):
            line = re.sub(r"(\)|const|noexcept) (: .*)?\{.*\}(?=$| +///)", r"\1;", line)
            if "(" in line and line.endswith("{"):
                line, body_end = re.sub(r"\s*(: .*)?\{$", ";", line), re.match(r" *", line).group() + "}"
            kept.append(re.sub(r"(\)|noexcept)$", r"\1;", line) if "(" in line.partition("///")[0] else line)
        elif line.endswith("{"):
            body_end = "  }"
    text = tidy("\n".join(line for line in kept if line.strip()))
    return text if text.endswith("};") else text + "\n};"


def items(root, header):
    """Sections, types and functions of a header, in order: (kind, name, code, prose, parts)."""
    path = root / "include/tarry" / header
    text = path.read_text(encoding="utf-8") if path.exists() else "#pragma once\n"
    text = re.sub(r"^namespace (detail|graph) \{\n.*?^\}  // namespace \1\n", "", text, flags=re.M | re.S)
    head, _, rest = text.partition("#pragma once\n")
    default = split_parts(prose(head.splitlines(), "//"))
    yield "head", header, "", default[0], {}
    lines, i = rest.splitlines(), 0
    section, docs, scope, owner = {}, [], "", ""
    while i < len(lines):
        line, start = lines[i], i
        i += 1
        body = line.strip()
        if match := re.match(r"// ---- (.*?)\.? ----$", body):
            while lines[i].strip().startswith("//") and not lines[i].strip().startswith("///"):
                i += 1
            words, section = split_parts(prose(lines[start + 1:i], "//"))
            yield "section", match.group(1), "", words, {}
        elif body.startswith("/// "):
            docs.append(body)
        elif body == "///":
            docs.append(body)
        elif match := re.match(r"namespace (\w+) \{", body):
            scope = "" if match.group(1) in ("tarry", "v0") else match.group(1) + "::"
        elif re.match(r"class TARRY_EXPORT Array \{", line):
            yield "type", "Array", "", *split_parts(prose(docs, "///"))
            owner, docs = "Array::", []
        elif owner and line == " private:":
            while lines[i] != "};":
                i += 1
            owner, section = "", {}
        elif match := re.match(r"(?:class|struct|enum class) (?:TARRY_EXPORT )?(\w+)[^;]*\{", line):
            while lines[i - 1] != "};" and not line.endswith("};"):
                i += 1
            words, parts = split_parts(prose(docs, "///"))
            code = "" if "parameters only" in words else type_code(lines[start:i])
            yield "type", scope + match.group(1), code, words, parts
            docs = []
        elif line.startswith(("inline constexpr ", "using ")):
            while not lines[i - 1].endswith(";"):
                i += 1
            if not re.search(r"dtype_of<| k[A-Z]", "".join(lines[start:i])):
                yield "value", "", tidy("\n".join(lines[start:i])).replace("constexpr ", ""), prose(docs, "///"), {}
            docs = []
        elif re.match(("  " if owner else "") + FUNCTION, line) and not re.search(r"<>|namespace", line):
            while not re.search(r"(;|\{|\}|\{.*\}|///<.*)$", lines[i - 1]):
                i += 1
            code = lines[start:i]
            if lines[i - 1].endswith("{"):
                end = re.match(r" *", line).group() + "}"
                while not lines[i - 1].startswith(end):
                    i += 1
            docs += ["/// " + c.split("///< ")[1] for c in code if "///< " in c]
            code = signature([re.sub(r"  ///<.*", "", c) for c in code])
            match = re.search(r"(operator(?:\(\)|[^ (]+| bool)|~?\w+)\(", code.split("requires(")[0])
            if match and not re.search(r"= (delete|default);$|~|^static_assert|Array::", code):
                words, parts = split_parts(prose(docs, "///"))
                inherited = {**default[1], **section}
                if "noexcept" in code:
                    inherited.pop("Throws", None)
                yield "function", scope + owner + match.group(1), code, words, {**inherited, **parts}
            docs = []
        elif body.startswith("// "):  # declarations below a plain comment are no part of the interface
            while lines[i].strip():
                i += 1
        elif not body:
            docs = []
