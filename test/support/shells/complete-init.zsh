# Prepares an interactive zsh that prints each completion as HIT:WORD, and DONE after Ctrl-X. Usage: source with the
# path of the completion script.
PS1='' RPS1=''
autoload -U compinit
compinit -u -d $1.dump # the file makes the next start quick
source $1
zstyle ':completion:*' insert-tab no
# The completion system passes all completions to this command. Calls with -O, -A or -D only ask it for matches.
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
    builtin compadd "$@"
    return $?
  fi
  local -a hits
  builtin compadd -A hits "$@"
  (( $#hits )) && print -rl -- HIT:$^hits
}
finish() { print DONE; exit }
zle -N finish
bindkey '^X' finish
bindkey '^I' complete-word
print READY
