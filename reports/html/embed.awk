# Prints a text file as a C string called NAME, and its SHA-256 (given in hexadecimal as SUM) in base64, as a content
# security policy wants it, called NAME_hash.
function digit(c) { return index("0123456789abcdef", c) - 1 }
BEGIN { printf "static const char %s[] =\n", name }
{ gsub(/\\/, "&&"); gsub(/"/, "\\\""); printf "    \"%s\\n\"\n", $0 }
END {
    print "    \"\";"
    set = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for (i = 1; i <= 64; i += 6) { # 64 digits are 10 groups of 24 bits and one of 16
        bits = 0
        for (k = 0; k < 6; k++)
            bits = bits * 16 + (i + k <= 64 ? digit(substr(sum, i + k, 1)) : 0)
        for (k = 3; k >= 0; k--)
            hash = hash (i == 61 && k == 0 ? "=" : substr(set, int(bits / 64 ^ k) % 64 + 1, 1))
    }
    printf "static const char %s_hash[] = \"%s\";\n", name, hash
}
