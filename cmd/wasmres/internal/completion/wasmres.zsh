#compdef wasmres
# Completes command lines of wasmres in zsh: source <(wasmres completion zsh), or a file _wasmres in a folder of fpath.
_wasmres() {
  local out line value
  local -a lines plain plainText open openText
  out=$("${words[1]}" __complete "--word=${(Q)words[CURRENT]}" -- "${(@Q)words[2,CURRENT-1]}" 2>/dev/null) || return 1
  lines=("${(@f)out}")
  for line in "${(@)lines[2,-1]}"; do
    value=${line%%$'\t'*}
    [[ $line == *$'\t'* ]] && line="$value -- ${line#*$'\t'}"
    if [[ $value == *[=:/] ]]; then
      open+=("$value") openText+=("$line")
    else
      plain+=("$value") plainText+=("$line")
    fi
  done
  (( $#plain )) && compadd -l -d plainText -a plain
  (( $#open )) && compadd -S '' -l -d openText -a open
  [[ $words[CURRENT] == -*=* ]] && compset -P '*='
  case $lines[1] in
    wasm) _files -g '*.wasm(-.)' ;;
    files) _files ;;
    folders) _files -/ ;;
  esac
  return 0
}
if [[ $funcstack[1] == _wasmres ]]; then
  _wasmres "$@"
else
  compdef _wasmres wasmres
fi
