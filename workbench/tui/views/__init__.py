"""One screen each: those by number, what opens on top of them, forms that put words on record."""
