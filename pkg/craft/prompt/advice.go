package prompt

// The tasks of advice.
const (
	Proposals Task = "proposals"
	Architect Task = "architect"
)

// Proposing is the request for proposals of a diagnosis.
type Proposing struct {
	Language string
	// Schema is the JSON Schema of a patch.
	Schema string
	// Most is the number of proposals, and the others are the lengths of their members in characters.
	Most, Title, Rationale, Effect int
	// Data is the message of the user, which is encoded as JSON.
	Data any
}

// Prompt returns the prompt for proposals.
func (p Proposing) Prompt() Prompt {
	return Prompt{Version: Version(Proposals), System: render("proposals.tmpl", p), User: data(p.Data)}
}

// ArchitectRubric says what a good reply of the architect does. It is part of its prompt, and evaluations judge replies
// by it.
var ArchitectRubric = []string{
	"knows the goal, or asks for it before it drafts",
	"rests on figures and settings that tools have returned, and says where they are too few",
	"drafts what can be applied as it is: concrete subjects, facts of the user alone, and no placeholder",
	"answers the question that was asked, in few words",
	"names the next step of the user",
}

// Conversing is the occasion of a conversation with the architect.
type Conversing struct {
	Today string // YYYY-MM-DD
	// About says what the chat is about, in the service's words.
	About string
}

// Criteria returns the rubric, for the template.
func (Conversing) Criteria() []string { return ArchitectRubric }

// System returns the system prompt of the architect.
func (c Conversing) System() string { return render("architect.tmpl", c) }
