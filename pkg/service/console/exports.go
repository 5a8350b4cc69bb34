package console

import "cmp"

const exportsPath = "/settings/exports"

// Word returns the state in a word of people.
func (x exported) Word() string {
	return map[string]string{"running": "being made", "completed": "ready"}[cmp.Or(string(x.State), "failed")]
}

// exports are the exports of the account: what belongs to it, or to one client, in files.
var exports = page[exported]{
	Title: "Exports", Path: exportsPath, API: "/v1/exports", List: "exports", Icon: "list", Names: true,
	Lead:    "An export has all data of the account, or of one client, as JSON lines, and their files.",
	Empty:   "There are no exports yet",
	Columns: []column{{Text: "Started"}, {Text: "Client", At: "sm"}, {Text: "Content", At: "md"}, {Text: "State"}},
	Name:    func(x exported) string { return x.ID },
	Heading: "Export", Show: "export",
	Create: &form[exported]{Inline: true, Recent: true, Verb: "Start an export", Inputs: []input{
		{Name: "profile_id", Member: "profile_id", Label: "Client", Kind: asSelect, Of: profileChoices,
			None: "The whole account", Free: true}}},
	Done: map[string]string{"created": "The export has begun."},
}
