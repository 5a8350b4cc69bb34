package prompt

// Adapt is the task of wording a post anew for platforms.
const Adapt Task = "adapt"

// Adapting is the request to word a post anew for platforms.
type Adapting struct {
	Language string `json:"-"`
	// Channel is the profile of the channel in sentences.
	Channel  string   `json:"channel"`
	Title    string   `json:"title"`
	Caption  string   `json:"caption"`
	Hashtags []string `json:"hashtags"`
	// Targets are the platforms, by their names in Names.
	Names   []string `json:"-"`
	Targets []Target `json:"-"`
}

// adapted is a platform with its name and its limits in characters.
type adapted struct {
	Name string
	Target
	Limits Limits
}

// Platforms returns the platforms with their limits, for the template.
func (a Adapting) Platforms() (all []adapted) {
	for i, t := range a.Targets {
		all = append(all, adapted{a.Names[i], t, Strictest([]Target{t})})
	}
	return all
}

// Prompt returns the prompt that words the post anew.
func (a Adapting) Prompt() Prompt {
	return Prompt{Version: Version(Adapt), System: render("adapt.tmpl", a), User: data(a)}
}
