#!/usr/bin/env bash
# packages.sh STREAM…
#
# Prints what Debian's own books say, one record a line, as POST /v1/connections/{connection}/records takes it:
#   packages   the installed packages, of dpkg's status file
#   changes    the dated entries of their changelogs
#   available  all packages that apt knows
# A record that is no UTF-8, as some old changelogs are, is printed as it is: the server keeps it apart.
set -euo pipefail
export LC_ALL=C # awk then works on bytes
root=${PACKAGES_ROOT:-}

# Functions that every awk program below begins with.
lib='
function text(s) {
    gsub(/\\/, "&&", s); gsub(/"/, "\\\"", s); gsub(/\t/, "\\t", s); gsub(/\n/, "\\n", s); gsub(/[\001-\037]/, " ", s)
    return "\"" s "\""
}
function member(name, value) { data = data (data == "" ? "" : ",") text(name) ":" value }
function record(stream) {
    if (data != "") printf "{\"stream\":\"%s\",\"data\":{%s}}\n", stream, data
    data = ""
}
'

# Stanzas of "Field: value" lines, as in dpkg's status and in what apt prints; installed[name] is from a first input.
stanzas() {
    awk -v stream="$1" "$lib"'
        FILENAME != "-" { installed[$1] = $2; next }
        /^$/ { record(stream); next }
        /^[A-Za-z-]+:/ {
            field = substr($0, 1, index($0, ":") - 1); value = substr($0, index($0, ":") + 2)
            if (field == "Package") { member("name", text(value)); if (value in installed) member("installed_at", installed[value]) }
            else if (field == "Installed-Size" || field == "Size") member(field == "Size" ? "size_bytes" : "installed_kib", value + 0)
            else if (field ~ /^(Version|Architecture|Status|Section|Priority|Maintainer|Source|Description)$/) member(tolower(field), text(value))
        }
        END { record(stream) }
    ' "$2" -
}

# When each package was installed: the time of the list of its files, in seconds since 1970.
installed() {
    stat -c '%n %Y' "$root"/var/lib/dpkg/info/*.list | sed -E 's|^.*/([^/:]+)(:[^/ ]+)?\.list |\1 |'
}

# Entries of changelogs: "source (version) suite; urgency=…", lines of text, " -- who  Fri, 05 May 2023 19:26:00 +0200".
changes() {
    find "$root/usr/share/doc" -mindepth 2 -maxdepth 2 -name 'changelog.Debian.gz' -print0 | sort -z | xargs -0 -r zcat | awk "$lib"'
        function date(s, p) { # Fri, 05 May 2023 19:26:00 +0200 → 2023-05-05T19:26:00+02:00
            if (split(s, p, " ") != 6) return text(s)
            return sprintf("\"%s-%02d-%02dT%s%s:%s\"", p[4], (index("JanFebMarAprMayJunJulAugSepOctNovDec", p[3]) + 2) / 3, p[2], p[5], substr(p[6], 1, 3), substr(p[6], 4))
        }
        /^[a-z0-9][a-z0-9+.-]* \([^)]+\)/ {
            source = $1; version = substr($2, 2, length($2) - 2); suite = $3; sub(/;.*/, "", suite); body = ""; next
        }
        /^ -- / && source != "" {
            at = index($0, ">  ")
            member("source", text(source)); member("version", text(version)); member("suite", text(suite))
            member("who", text(substr($0, 5, at - 4))); member("date", date(substr($0, at + 3))); member("text", text(body))
            record("changes"); source = ""; next
        }
        source != "" && NF { body = body (body == "" ? "" : "\n") $0 }
    '
}

for stream in "$@"; do
    case $stream in
    packages) stanzas packages <(installed) <"$root/var/lib/dpkg/status" ;;
    changes) changes ;;
    available) apt-cache dumpavail | stanzas available /dev/null ;;
    *) echo "packages.sh: no stream $stream" >&2; exit 2 ;;
    esac
done
