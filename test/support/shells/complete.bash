# Prints the completions of the last of some words, as bash computes them. Usage: bash complete.bash SCRIPT WORD…
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_perch
[ "${#COMPREPLY[@]}" -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
