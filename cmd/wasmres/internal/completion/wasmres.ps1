# Completes command lines of wasmres in PowerShell: wasmres completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName wasmres -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition -or $_.Extent.EndOffset -eq $cursorPosition -and $wordToComplete -eq '' } | ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.ToString() } })
    $arguments = @('__complete', "--word=$wordToComplete", '--') + @($words | Select-Object -Skip 1)
    # PowerShell offers files if there is nothing else.
    & $words[0] @arguments 2>$null | Select-Object -Skip 1 | ForEach-Object {
        $value, $usage = $_ -split "`t", 2
        if (-not $usage) { $usage = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $usage)
    }
}
