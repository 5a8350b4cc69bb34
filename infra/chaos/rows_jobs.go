package main

// jobRows are the rows about generations.
func jobRows(sz size) []row {
	return []row{{name: "No fault", happen: nothing, bounds: bounds{once: true}}}
}
