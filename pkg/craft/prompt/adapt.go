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
	// Facts are what the writer of the post knew.
	Facts Facts `json:"facts"`
	// Targets are the platforms, by their names in Names.
	Names   []string `json:"-"`
	Targets []Target `json:"-"`
}

// Named is a platform with its name in answers and its limits in characters.
type Named struct {
	Name string
	Target
	Limits Limits
}

// Naming returns a platform for texts of a language.
func Naming(name string, t Target, language string) Named {
	return Named{name, t, Strictest([]Target{t}, language)}
}

// Platforms returns the platforms with their limits, for the template.
func (a Adapting) Platforms() (all []Named) {
	for i, t := range a.Targets {
		all = append(all, Naming(a.Names[i], t, a.Language))
	}
	return all
}

// TagLength returns the greatest length of a hashtag, for the template.
func (Adapting) TagLength() int { return WordOfTag }

// Prompt returns the prompt that words the post anew.
func (a Adapting) Prompt() Prompt {
	return Prompt{Version: Version(Adapt), System: render("adapt.tmpl", a), User: data(a)}
}
