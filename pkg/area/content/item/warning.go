package item

// Warning is what makes content worse than it could be.
type Warning struct {
	// What it is: the brief is thin.
	Code string `json:"code" enum:"thin_brief"`
	// What to do about it.
	Message string `json:"message"`
	// Facts that would help most, the most useful first.
	Facts []MissingFact `json:"facts" nullable:"false"`
}

// ThinBrief is the code of a warning: the prompt and the factory say too little for a text that only this channel could
// publish.
const ThinBrief = "thin_brief"

// MissingFact is a fact that would help a writer.
type MissingFact struct {
	// Member that lacks it, of the item or of its factory.
	Member string `json:"member" example:"factory.audience"`
	// What to say there.
	Ask string `json:"ask" example:"Say who reads it, and what they want to know or to do."`
}
