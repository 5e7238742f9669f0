"""Results for people: text, HTML, figures and files of other tools."""
