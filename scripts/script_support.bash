# What the scripts in bash share. Sourced behind `set`: `--help` as the first argument shows the comment that begins the
# script, and nothing else is done.
help=$(sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' "$0")
case "${1:-}" in -h | --help) printf '%s\n' "$help"; exit 0 ;; esac

# Ends a script that is called wrongly: what is wrong, and the help.
refuse() { printf '%s\n' "$(basename "$0"): $1" "$help" >&2; exit 64; }

# Refuses what realm-bench would take for no time, before anything is built.
need_time() {
  [[ $1 =~ ^[0-9.]+(ms|s|m|h|d)[0-9a-z.]*$ ]] || refuse "a TIME is written as 30s or 2m, not as '$1'"
}
