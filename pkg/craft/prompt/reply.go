package prompt

// Reply is the task of a suggested reply to a comment.
const Reply Task = "reply"

// ReplyTokens is the most that the answer to a Replying takes, and ReplyRead the most that its prompt takes.
const (
	ReplyTokens = 600
	ReplyRead   = 4000
)

// Replying is the request for a suggested reply to a comment on a post of a channel.
type Replying struct {
	// Channel is the profile of the channel in sentences, and Language that of its texts.
	Channel, Language string
	// Platform is the name of the platform, and Limit the most characters of the reply.
	Platform string
	Limit    int
	// Post is the text of the post. Author and Comment are those of the comment: a stranger has written them.
	Post, Author, Comment string
	// Problems are those of the last answer, in the service's words.
	Problems []string
}

// Prompt returns the prompt.
func (r Replying) Prompt() Prompt {
	return Prompt{Version: Version(Reply), System: render("reply.tmpl", r), User: data(struct {
		Channel  string   `json:"channel"`
		Post     string   `json:"post"`
		Author   string   `json:"author,omitempty"`
		Comment  string   `json:"comment"`
		Problems []string `json:"problems,omitempty"`
	}{r.Channel, r.Post, r.Author, r.Comment, r.Problems})}
}
