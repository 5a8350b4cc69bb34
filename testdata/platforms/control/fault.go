package control

// Fault is how a fake mistreats one call.
type Fault string

// The faults.
const (
	// AnswerLost executes the call and closes the connection without an answer.
	AnswerLost Fault = "answer lost"
	// CutOff executes the call and sends no answer until the caller ends the call.
	CutOff Fault = "cut off"
	// Garbage executes the call and answers 200 with an unreadable body.
	Garbage Fault = "garbage"
	// RequestLost closes the connection without executing the call.
	RequestLost Fault = "request lost"
	// ServerError answers 503 with a page of HTML without executing the call.
	ServerError Fault = "server error"
	// RateLimited refuses the call as the platform refuses too many calls.
	RateLimited Fault = "rate limited"
)

// Faults returns all faults.
func Faults() []Fault {
	return []Fault{AnswerLost, CutOff, Garbage, RequestLost, ServerError, RateLimited}
}

// Fake is a fake of a platform. It is safe for concurrent use.
type Fake interface {
	// Posts returns the posts that are visible on the platform, one text for each. Two posts
	// with the same content have the same text. The text of a comment begins with CommentPrefix: a
	// comment may be missing, but must not exist twice.
	Posts() []string
	// Calls returns how many calls have arrived.
	Calls() int
	// Fail causes a fault in the n-th call, counted from 1 as Calls does.
	Fail(call int, f Fault)
	// Calm forgets the faults that no call has met yet.
	Calm()
	// Waiting returns a channel that receives a value for each call that meets CutOff.
	Waiting() <-chan struct{}
	// Expire ends all access tokens. Refresh tokens stay valid.
	Expire()
}

// CommentPrefix is the prefix of the text of a comment among the posts of a fake.
const CommentPrefix = "comment: "
