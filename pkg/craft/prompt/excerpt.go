package prompt

// Excerpt is the task of choosing scenes of a long video for a short one.
const Excerpt Task = "excerpt"

// ExcerptTokens is the most that the answer to an Excerpting takes.
const ExcerptTokens = 600

// Excerpting is the request to choose scenes of a video for a short one.
type Excerpting struct {
	Language string `json:"language"`
	// Request is what the short video is to be about, and Channel the profile of the channel in sentences.
	Request string `json:"request"`
	Channel string `json:"channel"`
	Title   string `json:"title,omitempty"`
	// Scenes are those of the video, in their order.
	Scenes []ExcerptScene `json:"scenes"`
	// Least and Most bound the seconds of the chosen scenes together.
	Least int `json:"-"`
	Most  int `json:"-"`
	// Whole reports whether the scenes are shown as they are. Otherwise the writer retells them.
	Whole bool `json:"-"`
}

// ExcerptScene is a scene of the video.
type ExcerptScene struct {
	Number int `json:"number"`
	// Seconds is the time that its words take.
	Seconds float64 `json:"seconds"`
	OriginScene
	// Used reports whether another short video has it already.
	Used bool `json:"used,omitempty"`
}

// Prompt returns the prompt that chooses the scenes.
func (e Excerpting) Prompt() Prompt {
	return Prompt{Version: Version(Excerpt), System: render("excerpt.tmpl", e), User: data(e)}
}
