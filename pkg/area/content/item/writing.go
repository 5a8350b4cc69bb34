package item

import (
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/prompt"
)

// tasks are the prompts of shapes.
var tasks = map[string]prompt.Task{
	"post": prompt.Post, "carousel": prompt.Carousel, "short video": prompt.Script, "long video": prompt.Script,
	"story": prompt.Story, "story clip": prompt.Story, "music clip": prompt.Song,
}

// task returns the prompt of the item's texts. Items that know no shape have the usual one of their kind.
func (r prompter) task() prompt.Task {
	if t, ok := tasks[r.Shape]; ok {
		return t
	}
	return map[Kind]prompt.Task{Post: prompt.Post, Carousel: prompt.Carousel, Video: prompt.Script, Story: prompt.Story,
		MusicClip: prompt.Song}[r.Kind]
}

// ask sets the request for the texts of the item.
func (r prompter) ask(p part, req *provider.Request) {
	req.ScriptSeconds, req.Scenes = p.Seconds, p.Scenes
	switch r.Kind {
	case Carousel:
		req.Slides = len(r.Slides)
	case Video:
	default:
		req.Pictures = 1
		req.Headline = r.Headlined && !r.Given.Has(Headline)
	}
	told := r.ofWriter(req)
	written := prompt.Write(told)
	req.System, req.User, req.PromptVersion = written.System, written.User, written.Version
	req.About, req.Sources = r.about(), len(told.Sources)
	switch text := longestAnswer(*req); p.Role { // unless it is known
	case roleReview:
		r.judge(req, text)
	case roleRewrite:
		req.Repair = &provider.Repair{Answer: text.Caption}
	}
}

// ofWriter returns what the writer of the item's texts is told.
func (r prompter) ofWriter(req *provider.Request) prompt.Writing {
	w := prompt.Writing{
		Task: r.task(), Type: r.Brief.Type, Channel: r.Brief.Voice, Language: r.Language, Subject: r.Prompt,
		Rules: append(r.productRules(), r.retold()...), Origin: r.Origin, Slides: req.Slides, Pictures: req.Pictures,
		Scenes: req.Scenes, Seconds: req.ScriptSeconds, Long: r.Shape == "long video", Headline: req.Headline,
	}
	if product := r.Brief.Product; product != nil {
		w.Product = product.facts(r.Brief.Prices != PricesNone)
	}
	if r.Given.Has(Script) {
		w.Script = r.Script
	}
	for i, a := range r.told() {
		w.Sources = append(w.Sources, prompt.Source{Number: i + 1, Title: a.Title, URL: a.URL, Published: a.PublishedAt,
			Text: a.Text})
	}
	w.Sourced = r.Brief.Sourced
	m := r.memory
	if m == nil {
		m = longestMemory()
		w.Targets, _ = targets(r.Kind, registry.Names())
		_, w.Limits = targets(r.Kind, nil)
	} else {
		w.Targets, w.Limits = targets(r.Kind, m.platforms)
	}
	w.Plan, w.Examples, w.Recent = r.Slot, m.examples, m.recent
	return w
}

// targets returns the platforms that a text is written for, and its limits. If no platform is known, the limits are
// those of all platforms that take the kind.
func targets(kind Kind, names []string) (known []prompt.Target, l prompt.Limits) {
	var all []prompt.Target
	for _, row := range registry.Rows() {
		t, takes := prompt.TargetOf(row.Capabilities, platform.Kind(kind))
		if !takes {
			continue
		}
		all = append(all, t)
		for _, name := range names {
			if name == row.Name {
				known = append(known, t)
			}
		}
	}
	if len(known) == 0 {
		return nil, prompt.Strictest(all)
	}
	return known, prompt.Strictest(known)
}
