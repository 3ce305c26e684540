# Completes command lines of wasmres in fish: a file wasmres.fish in ~/.config/fish/completions.
function __wasmres_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l out ($words[1] __complete "--word=$word" -- $words[2..-1] 2>/dev/null)
    or return
    for line in $out[2..-1]
        echo $line
    end
    switch $out[1]
        case wasm
            __fish_complete_suffix .wasm
        case files
            __fish_complete_path $word
        case folders
            __fish_complete_directories $word
    end
end
complete -c wasmres -f -a '(__wasmres_complete)'
