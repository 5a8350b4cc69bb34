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

// ask sets the request for the texts of the item.
func (r *Record) ask(p part, req *provider.Request) {
	w := prompt.Writing{
		Task: tasks[r.Shape], Type: r.Brief.Type, Channel: r.Brief.Voice, Language: r.Language, Subject: r.Prompt,
		Rules: r.productRules(), Scenes: p.Scenes, Seconds: p.Seconds, Long: r.Shape == "long video",
	}
	if product := r.Brief.Product; product != nil {
		w.Product = product.facts(r.Brief.Prices != PricesNone)
	}
	if r.Given.Script {
		w.Script = r.Script
	}
	for i, a := range r.told() {
		w.Sources = append(w.Sources, prompt.Source{Number: i + 1, Title: a.Title, URL: a.URL, Published: a.PublishedAt,
			Text: a.Text})
	}
	w.Sourced = r.Brief.Sourced
	switch r.Kind {
	case Carousel:
		w.Slides = len(r.Slides)
	case Video:
	default:
		w.Pictures = 1
	}
	m := r.memory
	if m == nil {
		m = longestMemory()
		w.Targets, _ = targets(r.Kind, registry.Names())
		_, w.Limits = targets(r.Kind, nil)
	} else {
		w.Targets, w.Limits = targets(r.Kind, m.platforms)
	}
	w.Plan, w.Examples, w.Recent = r.Slot, m.examples, m.recent
	written := prompt.Write(w)
	req.System, req.User, req.PromptVersion = written.System, written.User, written.Version
	req.About = r.about()
	req.ScriptSeconds, req.Scenes, req.Slides, req.Pictures = p.Seconds, p.Scenes, w.Slides, w.Pictures
	req.Sources = len(w.Sources)
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
