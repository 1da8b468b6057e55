# Prints the glossary, whose paragraphs are "**Term**: meaning", as rows of a C table.
BEGIN {
    RS = ""
    print "static const struct {\n    const char *term, *meaning;\n} html_words[] = {"
}
/^\*\*/ {
    gsub(/\n/, " ")
    gsub(/`/, "")
    gsub(/\\/, "&&")
    gsub(/"/, "\\\"")
    end = index(substr($0, 3), "**")
    meaning = substr($0, end + 6)
    gsub(/\*/, "", meaning)
    printf "    {\"%s\", \"%s\"},\n", substr($0, 3, end - 1), meaning
}
END { print "};" }
