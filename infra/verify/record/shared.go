package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/service/api"
)

// shared puts the answers that several operations give in one place. The most frequent
// answer with a code has the name of the code, others that of their first operation
// beside it.
func shared(all map[string]recorded) api.Examples {
	type same struct {
		code errs.Code
		text string
	}
	users := map[same][]string{}
	for _, operation := range slices.Sorted(maps.Keys(all)) {
		for code, answer := range all[operation].errors {
			users[same{code, string(answer)}] = append(users[same{code, string(answer)}], operation)
		}
	}
	names := map[same]string{}
	out := api.Examples{Operations: map[string]api.Example{}, Shared: map[string]json.RawMessage{}}
	usual := map[errs.Code]same{}
	for _, one := range slices.SortedFunc(maps.Keys(users), func(a, b same) int {
		return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.text, b.text))
	}) {
		if was, ok := usual[one.code]; !ok || len(users[one]) > len(users[was]) {
			usual[one.code] = one
		}
	}
	for one, by := range users {
		if len(by) == 1 {
			continue
		}
		name := string(one.code)
		if usual[one.code] != one {
			name += "." + by[0]
		}
		names[one] = name
		out.Shared[name] = json.RawMessage(one.text)
	}
	for operation, r := range all {
		e := api.Example{Request: r.request, Response: r.response, Errors: map[errs.Code]api.Answer{}}
		for code, answer := range r.errors {
			e.Errors[code] = api.Answer{Value: answer}
			if name := names[same{code, string(answer)}]; name != "" {
				e.Errors[code] = api.Answer{Shared: name}
			}
		}
		out.Operations[operation] = e
	}
	return out
}
