package prompt

// Topics is the task of the topics of a plan.
const Topics Task = "topics"

// Planning is the request for the topics of a plan.
type Planning struct {
	Language string        `json:"-"`
	Channel  string        `json:"channel"`
	Brief    string        `json:"brief,omitempty"`
	Slots    []TopicWanted `json:"slots"`
	// Avoid are topics that may not be repeated.
	Avoid []string `json:"avoid,omitempty"`
}

// TopicWanted is a slot without a topic.
type TopicWanted struct {
	Slot     int    `json:"slot"`
	Type     string `json:"content_type"`
	Day      string `json:"day"`
	Season   string `json:"season,omitempty"`
	Occasion string `json:"occasion,omitempty"`
	Pillar   string `json:"pillar,omitempty"`
	Goal     string `json:"goal,omitempty"`
	Campaign string `json:"campaign,omitempty"`
	// About is what the campaign is about.
	About string `json:"campaign_about,omitempty"`
	// Product is the name of the product that it presents.
	Product string `json:"product,omitempty"`
}

// Prompt returns the prompt for the topics of a plan.
func (p Planning) Prompt() Prompt {
	return Prompt{Version: Version(Topics), System: render("topics.tmpl", p), User: data(p)}
}
