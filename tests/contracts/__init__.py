"""What a plug-in of each kind has to keep to, as code that a stranger's can be held against."""
