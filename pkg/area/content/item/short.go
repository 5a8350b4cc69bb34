package item

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/craft/prompt"
)

// aim is what a text is written for.
type aim struct {
	// main are the platforms of the caption, and short those that have a version of their own, written with it.
	main  []prompt.Target
	short []prompt.PlatformName
}

// limits returns the limits of the caption.
func (a aim) limits(language string) prompt.Limits { return prompt.Strictest(a.main, language) }

// aimAt divides the platforms that the item may be published on. Those with texts of their own, adapted or by the
// caller, do not bound the caption, as long as there are others.
func (r *writer) aimAt(names []string) aim {
	var all, shared []prompt.PlatformName
	for _, row := range registry.Rows() {
		t, takes := prompt.TargetOf(row.Capabilities, platform.Kind(r.item.Kind))
		if !takes || !slices.Contains(names, row.Name) {
			continue
		}
		named := prompt.Naming(row.Name, t, r.item.Language)
		if all = append(all, named); !r.hasOwn(row.Name) {
			shared = append(shared, named)
		}
	}
	var a aim
	if len(shared) == 0 {
		a.main, _ = prompt.Divide(all, r.item.Language)
	} else {
		a.main, a.short = prompt.Divide(shared, r.item.Language)
	}
	if r.callerTexts.Has(Caption) {
		a.short = nil
	}
	for i := range a.short {
		l := &a.short[i].Limits
		l.Caption = max(l.Caption-utf8.RuneCountInString(noticeLength(r.record, a.short[i].Name)), 1)
	}
	return a
}

// hasOwn reports whether a platform has texts of its own: by the caller, or by the model that adapts them.
func (r *writer) hasOwn(name string) bool {
	v := r.item.Variants[name]
	return slices.Contains(r.attempt.Adapt, name) || v.Caption != nil && !v.Adapted
}

// derive makes the short versions that were written variants of the item. Members of variants that the caller has
// given stay.
func (r *maker) derive(t provider.Text) {
	for _, s := range t.Short {
		row, known := registry.Find(s.Platform)
		if v := r.item.Variants[s.Platform]; known && !r.writer.hasOwn(s.Platform) {
			tags := r.item.Hashtags
			if v.Hashtags != nil {
				tags = v.Hashtags
			}
			v.Hashtags = tags[:min(len(tags), tagsOn(row, r.item.Kind))]
			caption := fitText(r.record, row, s.Caption, v.Hashtags)
			v.Caption, v.Adapted, v.PromptVersion = &caption, true, r.item.PromptVersion
			if r.item.Variants == nil {
				r.item.Variants = map[string]Variant{}
			}
			r.item.Variants[s.Platform] = v
		}
	}
}

// tagsOn returns the number of hashtags that posts have on a platform.
func tagsOn(row registry.Row, kind Kind) int {
	t, _ := prompt.TargetOf(row.Capabilities, platform.Kind(kind)) // the caller knows that it takes the kind
	return t.Tags
}

// fitText shortens a text to the room that a platform has beside hashtags and notices, by its own count.
func fitText(r *Record, row registry.Row, caption string, tags []string) string {
	rule := row.Capabilities.Kinds[platform.Kind(r.Item.Kind)]
	return rule.Caption.Unit.Cut(caption, rule.Caption.Max+rule.Rest.Max-takenRoom(r, row, tags))
}

// takenRoom returns the room that hashtags and notices take in the caption of a platform. A platform without a list of
// hashtags has them in the caption.
func takenRoom(r *Record, row registry.Row, tags []string) int {
	rule, n := row.Capabilities.Kinds[platform.Kind(r.Item.Kind)], 0
	if !row.Capabilities.Hashtags.Tags && len(tags) > 0 {
		n = rule.Caption.Unit.Length("\n\n#" + strings.Join(tags, " #"))
	}
	return n + rule.Caption.Unit.Length(noticeLength(r, row.Name))
}

// bounds returns the limits of the texts on the platforms that the item may be published on. A platform that divides a
// long caption takes both parts.
func (r *writer) bounds(rows []registry.Row, t provider.Text) (all []guard.Limit) {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.Name
	}
	a := r.aimAt(names)
	for _, row := range rows {
		rule := row.Capabilities.Kinds[platform.Kind(r.item.Kind)]
		caption, path, tags := rule.Caption, "/caption", t.Hashtags
		switch {
		case slices.ContainsFunc(a.short, func(p prompt.PlatformName) bool { return p.Name == row.Name }):
			path, tags = "/variants/"+row.Name+"/caption", tags[:min(len(tags), tagsOn(row, r.item.Kind))]
		case !slices.ContainsFunc(a.main, func(p prompt.Target) bool { return p.Label == row.Capabilities.Label }):
			path = ""
		}
		if caption.Max = max(caption.Max+rule.Rest.Max-takenRoom(r.record, row, tags), 0); path != "" {
			all = append(all, guard.Limit{Path: path, Text: caption, Target: row.Capabilities.Label})
		}
		all = append(all, guard.Limit{Path: "/title", Text: rule.Title, Target: row.Capabilities.Label})
	}
	return all
}

// lacking returns the platforms that have no version of the caption although they need one: their accounts came after
// the writer was asked.
func (r *writer) lacking(rows []registry.Row, t provider.Text) (labels []string) {
	var names []string
	for _, row := range rows {
		names = append(names, row.Name)
	}
	for _, p := range r.aimAt(names).short {
		if !slices.ContainsFunc(t.Short, func(s provider.Short) bool { return s.Platform == p.Name }) {
			labels = append(labels, p.Label)
		}
	}
	return labels
}
