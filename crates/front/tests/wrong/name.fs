let area radius = Math.PI * radius * radios
