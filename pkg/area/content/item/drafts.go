package item

import (
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
)

// madeAs returns what the part of a role has made, or nil if there is nothing.
func (r prompter) madeAs(made []generate.Made, roles ...role) *generate.Made {
	for n := range min(len(made), len(r.Parts)) {
		for _, of := range roles {
			if r.Parts[n].Role == of && (made[n].Text != nil || made[n].Object != nil) {
				return &made[n]
			}
		}
	}
	return nil
}

// textOf returns the text that the part of a role has written, or nil.
func (r prompter) textOf(made []generate.Made, roles ...role) *provider.Text {
	if m := r.madeAs(made, roles...); m != nil {
		return m.Text
	}
	return nil
}

// draft returns the draft that is worked on: the second one if it was chosen in both orders, or else the first. It is
// nil if there is none yet.
func (r prompter) draft(made []generate.Made) *provider.Text {
	first, second := r.textOf(made, roleText, roleScript), r.textOf(made, roleSecond)
	if second != nil && r.prefers(made, roleChoose, roleChooseBack) > 0 {
		return second
	}
	return first
}

// chosenText returns the text of the item: what was rewritten, unless the draft was chosen in both orders. It is empty
// if there is none yet.
func (r prompter) chosenText(made []generate.Made) provider.Text {
	draft, again := r.draft(made), r.textOf(made, roleRewrite)
	switch {
	case again != nil && r.prefers(made, roleCompare, roleCompareBack) >= 0:
		return *again
	case draft != nil:
		return *draft
	}
	return provider.Text{}
}

// prefers returns which of two texts the comparisons in both orders prefer: 1 the later one, -1 the earlier one, and 0
// none, if they contradict each other or cannot be read.
func (r prompter) prefers(made []generate.Made, order, back role) int {
	later := func(of role, name string) int {
		m := r.madeAs(made, of)
		if m == nil {
			return 0
		}
		c, err := prompt.ParseChoice(m.Object)
		switch {
		case err != nil:
			return 0
		case c.Better == name:
			return 1
		}
		return -1
	}
	return (later(order, "b") + later(back, "a")) / 2
}

// pair returns the two texts that a part compares, or false if there is one alone.
func (r prompter) pair(p part, made []generate.Made) (earlier, later provider.Text, ok bool) {
	a, b := r.draft(made), r.textOf(made, roleRewrite)
	if p.Role == roleChoose || p.Role == roleChooseBack {
		a, b = r.textOf(made, roleText, roleScript), r.textOf(made, roleSecond)
	}
	if a == nil || b == nil {
		return earlier, later, false
	}
	return *a, *b, true
}

// verdict returns the result of the second look.
func (r prompter) verdict(made []generate.Made) (prompt.Verdict, bool) {
	m := r.madeAs(made, roleReview)
	if m == nil {
		return prompt.Verdict{}, false
	}
	v, err := prompt.ParseVerdict(m.Object)
	return v, err == nil
}
