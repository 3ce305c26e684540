"""What kit://text holds, in a file of its own to be imported."""

text = "The quick brown fox.\nZwölf Boxkämpfer. 狐 🦊\n"
