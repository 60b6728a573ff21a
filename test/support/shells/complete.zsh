# Types a command line and Tab in an interactive zsh, and prints what the zsh prints.
# Usage: zsh -f complete.zsh SCRIPT LINE
zmodload zsh/zpty
zpty shell "TERM=dumb zsh -f -i"
zpty -w shell "set -- ${(q)1}; source ${(q)0:h}/complete-init.zsh"
while zpty -r shell line; do [[ $line == READY* ]] && break; done
zpty -w -n shell "$2"$'\t'$'\x18'
while zpty -r shell line; do
  print -r -- $line
  [[ $line == *DONE* ]] && break
done
