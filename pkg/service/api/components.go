package api

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/httpapi"
)

// tree is an object of the document as JSON.
type tree = map[string]any

// sharer moves parts that stand in several places among the components of a kind.
type sharer struct {
	kind  string
	name  func(part tree) string
	whole tree
	uses  map[string]int
	names map[string]string
}

// shareParts moves what several operations have alike among the components: parameters, and responses of refused
// requests. Written once for each operation, they would be a fourth of the document. The requests to
// receivers become components too: generators take those in the section webhooks itself for operations of the service.
func shareParts(whole tree) error {
	parameters := &sharer{"parameters", parameterName, whole, map[string]int{}, map[string]string{}}
	responses := &sharer{"responses", responseName, whole, map[string]int{}, map[string]string{}}
	operations := operationsIn(whole)
	for _, do := range []func(s *sharer, part any) (any, error){(*sharer).count, (*sharer).share} {
		for _, o := range operations {
			listed, _ := o["parameters"].([]any)
			if o["x-sdk-method"] == nil { // generators do not find the parameters that only receivers get
				listed = nil
			}
			for i := range listed {
				part, err := do(parameters, listed[i])
				if err != nil {
					return err
				}
				listed[i] = part
			}
			answers, _ := o["responses"].(tree)
			for _, status := range slices.Sorted(maps.Keys(answers)) {
				if status < "300" {
					continue
				}
				part, err := do(responses, answers[status])
				if err != nil {
					return err
				}
				answers[status] = part
			}
		}
	}
	for _, o := range operations {
		answers, _ := o["responses"].(tree)
		inOrder(answers)
	}
	shared, _ := components(whole)["responses"].(tree)
	inOrder(shared)
	hooks, _ := whole["webhooks"].(tree)
	items := tree{}
	for event, item := range hooks {
		name := httpapi.PascalCase(event)
		items[name], hooks[event] = item, tree{"$ref": "#/components/pathItems/" + name}
	}
	components(whole)["pathItems"] = items
	return dropUnused(whole)
}

// dropUnused removes the schemas that nothing refers to: values that a shape of a body has in their place.
func dropUnused(whole tree) error {
	schemas, _ := components(whole)["schemas"].(tree)
	for {
		text, err := json.Marshal(whole)
		if err != nil {
			return err
		}
		dropped := false
		for _, name := range slices.Sorted(maps.Keys(schemas)) {
			if !strings.Contains(string(text), `"#/components/schemas/`+name+`"`) {
				delete(schemas, name)
				dropped = true
			}
		}
		if !dropped {
			return nil
		}
	}
}

func components(whole tree) tree {
	all, _ := whole["components"].(tree)
	return all
}

// operationsIn returns all operations and requests to receivers, in the order of their paths and events.
func operationsIn(whole tree) (all []tree) {
	for _, section := range []string{"paths", "webhooks"} {
		items, _ := whole[section].(tree)
		for _, at := range slices.Sorted(maps.Keys(items)) {
			item, _ := items[at].(tree)
			for _, method := range slices.Sorted(maps.Keys(item)) {
				if o, ok := item[method].(tree); ok {
					all = append(all, o)
				}
			}
		}
	}
	return all
}

// count counts the use of a part.
func (s *sharer) count(part any) (any, error) {
	text, err := json.Marshal(part)
	s.uses[string(text)]++
	return part, err
}

// share returns the reference to a part that stands in several places, or else the part. The first one with a name is
// the component: another one with that name stays where it is.
func (s *sharer) share(part any) (any, error) {
	of, ok := part.(tree)
	if _, shared := of["$ref"]; !ok || shared {
		return part, nil
	}
	text, err := json.Marshal(part)
	if err != nil || s.uses[string(text)] < 2 {
		return part, err
	}
	name, known := s.names[string(text)]
	if !known {
		all, _ := components(s.whole)[s.kind].(tree)
		if all == nil {
			all = tree{}
			components(s.whole)[s.kind] = all
		}
		if name = s.name(of); name == "" || all[name] != nil {
			return part, nil
		}
		all[name], s.names[string(text)] = part, name
	}
	return tree{"$ref": "#/components/" + s.kind + "/" + name}, nil
}

// parameterName names a parameter of the path by itself, and another one by its place too, since both may have a name.
func parameterName(p tree) string {
	name, _ := p["name"].(string)
	in, _ := p["in"].(string)
	name = httpapi.PascalCase(strings.ReplaceAll(name, "-", "_"))
	if in == "path" {
		return name
	}
	return name + httpapi.PascalCase(in)
}

// responseName names the response of errors by its schema, and the one without a body by what it says.
func responseName(r tree) string {
	content, _ := r["content"].(tree)
	media, _ := content[kind].(tree)
	schema, _ := media["schema"].(tree)
	if ref, ok := schema["$ref"].(string); ok {
		return strings.TrimSuffix(path.Base(ref), "Response")
	}
	description, _ := r["description"].(string)
	return strings.ReplaceAll(description, " ", "")
}
