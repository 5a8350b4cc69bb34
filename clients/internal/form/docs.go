package form

// docs describe the resources that have no tag of their own.
var docs = map[string]string{
	"applications": "Add, change and delete own applications of platforms",
	"approvals":    "Approve content items, or ask for changes",
	"experiments":  "Compare arms of factors of content, read the result, and apply it",
	"exports":      "Export the data of the account, and read the parts of an export",
	"imports":      "Import an export, and read what has become of its resources",
	"planTopics":   "Add, change, drop and approve topics of content plans",
	"publications": "List, read, change and take down publications",
	"quotes":       "Hold the price of a rehearsal, and read a quote",
	"reviewLinks":  "List, create and delete links by which people without an account review content",
	"sandbox":      "Empty the sandbox, or move its clock",
}
