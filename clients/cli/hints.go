package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	contentautomation "github.com/content-automation/api/clients/go"
)

// hints says by which flags the members are sent that an answer refuses. A member of a member has no flag of its own.
func (c *calling) hints(err error) (hints []string) {
	var api *contentautomation.Error
	if !errors.As(err, &api) {
		return nil
	}
	params := []string{api.Param}
	for _, d := range api.Details {
		params = append(params, d.Param)
	}
	slices.Sort(params)
	for _, param := range slices.Compact(params) {
		pointer, is := strings.CutPrefix(param, "/")
		if !is || !c.takesBody {
			continue
		}
		names := strings.Split(pointer, "/")
		flagged := slices.ContainsFunc(c.body, func(p parameter) bool { return p.name == names[0] })
		if len(names) == 1 && flagged {
			hints = append(hints, param+" is the flag --"+strings.ReplaceAll(pointer, "_", "-"))
			continue
		}
		hints = append(hints, param+" is sent by --body '"+sampleOf(names)+"'")
	}
	return hints
}

// sampleOf writes a body with the member at a place.
func sampleOf(names []string) string {
	if len(names) == 0 {
		return "…"
	}
	if _, err := strconv.Atoi(names[0]); err == nil {
		return "[" + sampleOf(names[1:]) + "]"
	}
	return "{" + strconv.Quote(names[0]) + ": " + sampleOf(names[1:]) + "}"
}
