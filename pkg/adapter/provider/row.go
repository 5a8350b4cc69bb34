package provider

import "slices"

// Row is a provider. The enumeration of the document, the document of credentials and the
// table of residency follow from it.
type Row struct {
	Name string
	// Operator runs the provider; empty: AWS does, in the regions of the stack.
	Operator string
	// Credential is the member of its credential; empty: the function's own role is used.
	Credential string
}

// rows are all providers, in the order in which they are listed.
var rows = []Row{
	{Name: "bedrock"},
	{Name: "polly"},
	{Name: "fal", Operator: "fal (Features & Labels, Inc.)", Credential: "key"},
	{Name: "replicate", Operator: "Replicate, Inc.", Credential: "token"},
	{Name: "elevenlabs", Operator: "Eleven Labs Inc.", Credential: "key"},
	{Name: "heygen", Operator: "HeyGen, Inc.", Credential: "key"},
}

// AllRows returns the providers, in the order in which they are listed.
func AllRows() []Row { return rows }

// AddRow adds a provider, and returns a function that removes it again. It is for tests of what follows from the rows.
func AddRow(r Row) (remove func()) {
	before := rows
	rows = append(slices.Clone(rows), r)
	return func() { rows = before }
}

// RowNames returns the names of the providers.
func RowNames() []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Name
	}
	return names
}

// FindRow returns the provider of a name, and whether there is one.
func FindRow(name string) (Row, bool) {
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return Row{}, false
	}
	return rows[i], true
}
