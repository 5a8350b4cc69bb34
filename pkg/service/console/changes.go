package console

import (
	"maps"
	"net/http"
	"slices"
)

// proposal is a page that lists what a form would change before it is saved. Its form repeats the fields.
type proposal struct {
	Title, Subject string
	// Changes are the changes in the language of the page, and Effects what follows from them.
	Changes, Effects []string
	// Active is the link of the menu. The form is sent to the path of the page itself.
	Active string
}

// formField is a field of a form that was sent.
type formField struct{ Name, Value string }

// sentFields are the fields of the form, without those that belong to one page.
func sentFields(r *request) (all []formField) {
	for _, name := range slices.Sorted(maps.Keys(r.PostForm)) {
		if slices.Contains([]string{tokenField, "once", "step"}, name) {
			continue
		}
		for _, value := range r.PostForm[name] {
			all = append(all, formField{name, value})
		}
	}
	return all
}

// The values of the field step: a form is proposed first, then saved, unless the person goes back to it.
const (
	stepSave = "save"
	stepBack = "back"
)

func propose(r *request, p proposal) error {
	v := r.view(p.Title, p.Active)
	v.Data = map[string]any{"Of": p, "Fields": sentFields(r), "Action": r.site.prefix + r.URL.Path}
	return r.show(http.StatusOK, "changes", v)
}

// changed adds a line about a member whose text has changed.
func changed(v *view, to []string, name, before, after string) []string {
	if before == after {
		return to
	}
	none := v.T("None")
	if before == "" {
		before = none
	}
	if after == "" {
		after = none
	}
	return append(to, v.T(name)+": "+before+" → "+after)
}

// changedSet adds lines about the members that a list has gained and lost.
func changedSet(v *view, to []string, added, removed string, before, after []string) []string {
	for _, one := range after {
		if !slices.Contains(before, one) {
			to = append(to, v.T(added, one))
		}
	}
	for _, one := range before {
		if !slices.Contains(after, one) {
			to = append(to, v.T(removed, one))
		}
	}
	return to
}

const messageNoChange = "The form has no change. Nothing was saved."
