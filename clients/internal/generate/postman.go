package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/content-automation/api/clients/internal/form"
	"github.com/content-automation/api/pkg/base/text"
)

// step is a request of the collection. The order of the steps is that in which a run makes sense: read, create, change,
// delete. Operations without a step follow before the last one. Each request names the one after it, so that the
// folders may have the order of the resources. People call the operations for people: the collection has those of keys
// alone.
type step struct {
	Op, Name string
	Body     json.RawMessage
	Params   map[string]string
	// Path names the variables of parameters whose own name is not that of the variable.
	Path map[string]string
	// Keep has the places of data that later requests need, by the name of the variable.
	Keep map[string]string
	// Match is the variable with the version that the request changes.
	Match string
	// Until has the states to wait for. That of a list is none or some.
	Until []string
	// Allowed are the statuses that are right, if there are several.
	Allowed []int
}

//go:embed steps.json
var stepsJSON []byte

// object is an object of the collection.
type object map[string]any

// checks are the tests of every request. A request over the limit of the key is sent again when the service says.
const checks = `if (pm.response.code === 429) {
  const seconds = pm.response.headers.get('Retry-After') || 1;
  setTimeout(() => pm.execution.setNextRequest(pm.info.requestId), seconds * 1000);
} else {
  const answer = pm.response.json();
  pm.test('the answer has the envelope', () => {
    pm.expect(answer).to.have.property('data');
    pm.expect(answer).to.have.property('error');
  });
  pm.test('request_id is that of the header', () =>
    pm.expect(answer.request_id).to.eql(pm.response.headers.get('X-Request-Id')));
}`

// before sets the variables that bodies use.
const before = `const at = (seconds) => new Date(pm.variables.get('clock') * 1 + seconds * 1000).toISOString();
if (!pm.variables.get('clock')) pm.collectionVariables.set('clock', Date.now());
pm.collectionVariables.set('next_week', at(7 * 86400));
pm.collectionVariables.set('an_hour_ago', at(-3600));`

// clock keeps the time of the service, which may be another than that of the machine.
const clock = `const date = Date.parse(pm.response.headers.get('Date'));
if (date) pm.collectionVariables.set('clock', date);`

// folders are the titles of the groups of resources.
func folder(o form.Operation) string {
	words := text.Words(o.Resource)
	words[0] = strings.ToUpper(words[0][:1]) + words[0][1:]
	return strings.ReplaceAll(strings.Join(words, " "), "Api", "API")
}

func writePostman(_ string, f *form.Form, all map[string][]byte) error {
	var steps []step
	if err := json.Unmarshal(stepsJSON, &steps); err != nil {
		return err
	}
	operations := map[string]form.Operation{}
	for _, r := range f.Resources {
		for _, o := range r.Operations {
			operations[o.ID] = o
			if o.Scope != "person" && !slices.ContainsFunc(steps, func(s step) bool { return s.Op == o.ID }) {
				steps = slices.Insert(steps, len(steps)-1, step{Op: o.ID}) // the last one empties the sandbox
			}
		}
	}
	folders, err := foldersOf(steps, operations)
	if err != nil {
		return err
	}
	collection := object{
		"info": object{"_postman_id": stable("collection"), "name": "Content-Automation API",
			"description": "Every operation of the API that a key may call, by resource. Choose an environment and set apiKey to " +
				"a test key. A run of the whole collection follows an order of its own: each request names the next one. It leaves " +
				"alone what is there. The folder that empties the sandbox is skipped unless allowReset is true.",
			"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
		"auth":  object{"type": "bearer", "bearer": []object{{"key": "token", "value": "{{apiKey}}", "type": "string"}}},
		"event": []object{event("prerequest", before), event("test", clock+"\n"+checks)},
		"item":  folders,
	}
	if all["postman/content-automation.postman_collection.json"], err = encode(collection, " "); err != nil {
		return err
	}
	for _, e := range []struct{ file, name, url, hook string }{
		{"local", "Local sandbox", "http://localhost:8080", "http://127.0.0.1:9/hooks/content"},
		{"cloud", "Cloud", "https://api.content-automation.example", "https://crm.example.com/hooks/content"},
	} {
		environment := object{"id": stable(e.file), "name": "Content-Automation: " + e.name,
			"_postman_variable_scope": "environment", "values": []object{
				{"key": "baseUrl", "value": e.url, "type": "default", "enabled": true},
				{"key": "apiKey", "value": "", "type": "secret", "enabled": true},
				{"key": "webhookUrl", "value": e.hook, "type": "default", "enabled": true},
				{"key": "allowReset", "value": "false", "type": "default", "enabled": true}}}
		if all["postman/"+e.file+".postman_environment.json"], err = encode(environment, "  "); err != nil {
			return err
		}
	}
	return nil
}

// Titles of folders that are no resources.
const (
	furtherSteps = "Further steps of a run"
	resetFolder  = "Empty the sandbox (off)"
)

// onlyIfAllowed skips a request unless the caller permits it.
const onlyIfAllowed = `if (pm.variables.get('allowReset') !== 'true') pm.execution.skipRequest();`

// foldersOf returns the folders of the collection: one for each resource, in the order of the steps. Steps that call an
// operation another time have a folder of their own in that of the resource.
func foldersOf(steps []step, operations map[string]form.Operation) ([]object, error) {
	var folders []object
	// in returns the folder of some name in a list of them, which it adds if there is none.
	in := func(list *[]object, name string) object {
		for _, one := range *list {
			if one["name"] == name {
				return one
			}
		}
		one := object{"name": name, "item": []object{}}
		*list = append(*list, one)
		return one
	}
	put := func(at object, one object) { at["item"] = append(at["item"].([]object), one) }
	further := map[string][]object{}
	for i, s := range steps {
		o, ok := operations[s.Op]
		if !ok {
			return nil, fmt.Errorf("steps.json has %s, which does not exist", s.Op)
		}
		next := ""
		if i+1 < len(steps) {
			next = steps[i+1].id()
		}
		one, err := request(s, o, next)
		switch name := folder(o); {
		case err != nil:
			return nil, err
		case s.Op == "resetSandbox":
			one["event"] = append(one["event"].([]object), event("prerequest", onlyIfAllowed))
			put(in(&folders, resetFolder), one)
		case s.Name != "":
			further[name] = append(further[name], one)
		default:
			put(in(&folders, name), one)
		}
	}
	for _, one := range folders {
		if steps := further[one["name"].(string)]; len(steps) > 0 {
			put(one, object{"name": furtherSteps, "item": steps})
		}
	}
	return folders, nil
}

// id returns the id of the request of a step.
func (s step) id() string { return stable(fmt.Sprint(s.Op, s.Name)) }

func event(when, script string) object {
	return object{"listen": when, "script": object{"type": "text/javascript", "exec": strings.Split(script, "\n")}}
}

// stable returns an id that is the same in each run, in the form of RFC 9562.
func stable(name string) string {
	h := sha256.Sum256([]byte("content-automation " + name))
	x := hex.EncodeToString(h[:16])
	return x[:8] + "-" + x[8:12] + "-4" + x[13:16] + "-8" + x[17:20] + "-" + x[20:]
}

func encode(v any, indent string) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return out.Bytes(), err
}

// request returns the request of a step, and the id of the next one.
func request(s step, o form.Operation, next string) (object, error) {
	url := strings.TrimPrefix(o.Path, "/")
	for _, p := range o.PathParams {
		url = strings.ReplaceAll(url, "{"+p.Name+"}", "{{"+cmp.Or(s.Path[p.Name], p.Name)+"}}")
	}
	raw, query := "{{baseUrl}}/"+url, []object{}
	for _, p := range o.Query {
		value, on := s.Params[p.Name]
		if on {
			query = append(query, object{"key": p.Name, "value": value})
			raw += map[bool]string{true: "?", false: "&"}[len(query) == 1] + p.Name + "=" + value
		}
	}
	r := object{"method": o.Method, "header": []object{}, "url": object{"raw": raw, "host": []string{"{{baseUrl}}"},
		"path": strings.Split(url, "/"), "query": query}, "description": strings.Split(o.Description, "\n\n")[0]}
	if o.Method != "GET" {
		r["header"] = []object{{"key": "Idempotency-Key", "value": "{{$guid}}"}}
	}
	if s.Match != "" {
		r["header"] = append(r["header"].([]object), object{"key": "If-Match", "value": `"{{` + s.Match + `}}"`})
	}
	body := s.Body
	if body == nil {
		body = o.Example
	}
	if o.Body != nil && body != nil {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, body, "", "  "); err != nil {
			return nil, err
		}
		r["body"] = object{"mode": "raw", "raw": replaceIDs(pretty.String()), "options": object{"raw": object{"language": "json"}}}
	}
	return object{"id": s.id(), "name": cmp.Or(s.Name, o.Summary), "request": r,
		"event": []object{event("test", script(s, o, next))}}, nil
}

// exampleIDs are the variables of the ids in examples.
var exampleIDs = strings.NewReplacer("fac_01h455vb4pex5vsknk084sn02q", "{{factory_id}}",
	"cnt_01h455vb4pex5vsknk084sn02q", "{{content_item_id}}", "soc_01h455vb4pex5vsknk084sn02q", "{{social_account_id}}",
	"prd_01h455vb4pex5vsknk084sn02q", "{{product_id}}")

func replaceIDs(body string) string { return exampleIDs.Replace(body) }

// script returns the test of a request, which names the next one.
func script(s step, o form.Operation, next string) string {
	allowed := s.Allowed
	if len(allowed) == 0 {
		allowed = []int{o.Status}
	}
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(allowed), " ", ", "), "[]")
	text := fmt.Sprintf("if (pm.response.code === 429) return;\npm.test('the status is %s', () => pm.expect(pm.response.code).to.be.oneOf([%s]));",
		strings.ReplaceAll(list, ", ", " or "), list)
	for _, name := range slices.Sorted(maps.Keys(s.Keep)) {
		place := ""
		for part := range strings.SplitSeq(s.Keep[name], ".") {
			place += "?.['" + part + "']"
		}
		text += fmt.Sprintf("\npm.collectionVariables.set('%s', pm.response.json().data%s);", name, place)
	}
	goOn := "pm.execution.setNextRequest(null);"
	if next != "" {
		goOn = fmt.Sprintf("pm.execution.setNextRequest('%s');", next)
	}
	if len(s.Until) == 0 {
		return text + "\n" + goOn
	}
	return text + fmt.Sprintf("\nconst tries = (pm.variables.get('tries') || 0) * 1, result = pm.response.json().data;"+
		"\nconst state = Array.isArray(result) ? (result.length ? 'some' : 'none') : result?.state;"+
		"\nconst done = ['%s'].includes(state) || pm.response.code >= 300;"+
		"\npm.collectionVariables.set('tries', done ? 0 : tries + 1);"+
		"\nif (!done && tries < 60) {"+
		"\n  setTimeout(() => pm.execution.setNextRequest(pm.info.requestId), pm.variables.get('pause') || 1000);"+
		"\n} else {"+
		"\n  pm.test('the work has ended', () => pm.expect(done, state).to.be.true);"+
		"\n  %s"+
		"\n}", strings.Join(s.Until, "', '"), goOn)
}
