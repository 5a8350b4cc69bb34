package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
)

// contractFile has the rules that the tests of this file hold, and exceptionsFile the names and their exceptions.
const (
	contractFile   = "../../../docs/contract.md"
	exceptionsFile = "testdata/contract.md"
)

// contractRows returns the cells of the tables below a heading of the contract, without their heads.
func contractRows(t *testing.T, heading string) (rows [][]string) {
	t.Helper()
	var text string
	for _, name := range []string{contractFile, exceptionsFile} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text += string(page)
	}
	_, rest, ok := strings.Cut(text, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("the contract has no heading %s", heading)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	for block := range strings.SplitSeq(rest, "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		if len(lines) < 3 || !strings.HasPrefix(lines[0], "|") {
			continue
		}
		for _, line := range lines[2:] {
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells)
		}
	}
	return rows
}

var quoted = regexp.MustCompile("`([^`]+)`")

// quotedIn returns the words in code of a cell.
func quotedIn(cell string) (words []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		words = append(words, m[1])
	}
	return words
}

// exceptions are the places that a rule of the contract names, and those of them that were met.
type exceptions struct{ named, met map[string]bool }

// exceptionsOf returns the exceptions to a rule.
func exceptionsOf(t *testing.T, rule string) exceptions {
	t.Helper()
	e := exceptions{map[string]bool{}, map[string]bool{}}
	for _, row := range contractRows(t, "Exceptions") {
		if row[0] != rule {
			continue
		}
		if len(row) != 3 || row[2] == "" {
			t.Errorf("an exception to %s has no reason: %v", rule, row)
		}
		for _, place := range quotedIn(row[1]) {
			e.named[place] = true
		}
	}
	if len(e.named) == 0 {
		t.Errorf("testdata/contract.md names no exception to %s", rule)
	}
	return e
}

// has reports whether a member of a schema, or every member of the name, is an exception.
func (e exceptions) has(at, member string) bool {
	for _, place := range []string{at + "." + member, member} {
		if e.named[place] {
			e.met[place] = true
			return true
		}
	}
	return false
}

// unused reports exceptions that the document does not need any more.
func (e exceptions) unused(t *testing.T) {
	t.Helper()
	for _, place := range slices.Sorted(maps.Keys(e.named)) {
		if !e.met[place] {
			t.Errorf("testdata/contract.md excepts %s, which needs no exception", place)
		}
	}
}

// contractMembers visits each member and parameter of the document, with the schema that it has or refers to.
func contractMembers(doc *huma.OpenAPI, visit func(at, member string, s *huma.Schema)) {
	schemas := doc.Components.Schemas.Map()
	resolve := func(s *huma.Schema) *huma.Schema {
		for s != nil {
			switch {
			case s.Ref != "":
				s = schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
			case s.Type == "" && len(s.OneOf)+len(s.AnyOf) == 2: // a schema or null
				parts := slices.Concat(s.OneOf, s.AnyOf)
				if parts[0].Type == "null" {
					parts[0] = parts[1]
				}
				s = parts[0]
			default:
				return s
			}
		}
		return &huma.Schema{}
	}
	for _, at := range slices.Sorted(maps.Keys(schemas)) {
		s := schemas[at]
		for _, part := range append([]*huma.Schema{s}, s.AllOf...) {
			for _, member := range slices.Sorted(maps.Keys(part.Properties)) {
				visit(at, member, resolve(part.Properties[member]))
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, o := range operationsOf(doc.Paths[path]) {
			for _, p := range o.Parameters {
				visit(o.OperationID, p.Name, resolve(p.Schema))
			}
		}
	}
}

func isNumber(s *huma.Schema) bool { return s.Type == huma.TypeInteger || s.Type == huma.TypeNumber }

// A caller reads from the name what a number counts or measures.
func TestNumbersSayTheirUnit(t *testing.T) {
	var units []string
	plain := exceptions{map[string]bool{}, map[string]bool{}}
	for _, row := range contractRows(t, "Numbers") {
		if row[0] == "unit" {
			units = append(units, quotedIn(row[1])...)
			continue
		}
		for _, word := range quotedIn(row[1]) {
			plain.named[word] = true
		}
	}
	doc := Document()
	schemas := doc.Components.Schemas.Map()
	contractMembers(doc, func(at, member string, s *huma.Schema) {
		if !isNumber(s) {
			return
		}
		if slices.ContainsFunc(units, func(u string) bool { return strings.HasSuffix(member, u) }) {
			return
		}
		if of := schemas[at]; of != nil && (of.Properties["unit"] != nil || of.Properties[member+"_unit"] != nil) {
			return
		}
		if !plain.has(at, member) {
			t.Errorf("%s.%s is a number without a unit: name it in its name, or in the table of numbers", at, member)
		}
	})
	plain.unused(t)
}

// Times end in _at, days in _on.
func TestTimesSayThatTheyAreTimes(t *testing.T) {
	e := exceptionsOf(t, "time")
	contractMembers(Document(), func(at, member string, s *huma.Schema) {
		ends := func(with string) bool { return strings.HasSuffix(member, with) }
		switch s.Format {
		case "date-time":
			if !ends("_at") && !e.has(at, member) {
				t.Errorf("%s.%s is a time: its name ends in _at", at, member)
			}
		case "date":
			if !ends("_on") && member != "day" && !e.has(at, member) {
				t.Errorf("%s.%s is a day: its name ends in _on, or is day", at, member)
			}
		default:
			if (ends("_at") || ends("_on")) && s.Type == huma.TypeString && !e.has(at, member) {
				t.Errorf("%s.%s has the name of a time, and is none", at, member)
			}
		}
	})
	e.unused(t)
}

// One word names a variant.
func TestVariantsAreKinds(t *testing.T) {
	e := exceptionsOf(t, "kind")
	contractMembers(Document(), func(at, member string, _ *huma.Schema) {
		word := regexp.MustCompile(`(^|_)types?$`).MatchString(member)
		event := strings.HasSuffix(at, "Event") && member == "type"
		of := strings.TrimSuffix(at, "Create")
		factory := strings.HasSuffix(of, "Factory") && member == "type" || strings.HasPrefix(at, "Factory")
		if word && !event && !factory && !e.has(at, member) {
			t.Errorf("%s.%s names a variant: the word is kind", at, member)
		}
	})
	e.unused(t)
}

// A name is a list in each schema, or in none.
func TestListsAndNumbersHaveOtherNames(t *testing.T) {
	e := exceptionsOf(t, "list")
	lists, numbers := map[string]string{}, map[string][]string{}
	contractMembers(Document(), func(at, member string, s *huma.Schema) {
		switch {
		case s.Type == huma.TypeArray:
			lists[member] = at
		case isNumber(s):
			numbers[member] = append(numbers[member], at)
		case member == "items" && !e.has(at, member):
			t.Errorf("%s.items is no list", at)
		}
	})
	for member, places := range numbers {
		for _, at := range places {
			if of, ok := lists[member]; ok && !e.has(at, member) {
				t.Errorf("%s.%s is a number, and a list in %s: name it …_count", at, member, of)
			}
		}
	}
	e.unused(t)
}

// No answer has "" for nothing, as a caller would have to look for both.
func TestAnswersHaveNullForNothing(t *testing.T) {
	var walk func(op, member string, v any)
	walk = func(op, member string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				walk(op, name, inner)
			}
		case []any:
			for _, inner := range v {
				walk(op, member, inner)
			}
		case string:
			if v == "" {
				t.Errorf("the answer of %s has the empty text for %s: it is null", op, member)
			}
		}
	}
	var answers map[string]struct{ Response any }
	if err := json.Unmarshal(recorded, &answers); err != nil {
		t.Fatal(err)
	}
	for op, answer := range answers {
		walk(op, "", answer.Response)
	}
	for _, of := range event.Types {
		text, err := json.Marshal(event.Sample(of.Type, tenant.Of("acc_01h455vb4pex5vsknk084sn02q", tenant.Test),
			time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)))
		if err != nil {
			t.Fatal(err)
		}
		var sample any
		if err := json.Unmarshal(text, &sample); err != nil {
			t.Fatal(err)
		}
		walk(string(of.Type), "", sample)
	}
}

// Each state of each resource has one class, and a word of a state means the same everywhere.
func TestStatesHaveAClass(t *testing.T) {
	class := map[string]string{}
	for _, row := range contractRows(t, "States") {
		for _, state := range quotedIn(row[1]) {
			if was, ok := class[state]; ok {
				t.Errorf("%s is %s and %s", state, was, row[0])
			}
			class[state] = row[0]
		}
	}
	met := map[string]bool{}
	contractMembers(Document(), func(at, member string, s *huma.Schema) {
		if member != "state" {
			return
		}
		for _, v := range listed(s) {
			state, _ := v.(string)
			if met[state] = true; class[state] == "" {
				t.Errorf("the state %s of %s has no class in docs/contract.md", state, at)
			}
		}
	})
	for state := range class {
		if !met[state] {
			t.Errorf("docs/contract.md has a class for %s, which is a state of nothing", state)
		}
	}
}

// What documents say of the code is true: `make generate` writes it.
func TestTablesOfDocumentsAreThoseOfTheCode(t *testing.T) {
	for name, tables := range map[string]map[string]string{contractFile: ContractTables(),
		"../../../README.md": ReadmeTables()} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := WithTables(string(text), tables)
		if err != nil {
			t.Fatal(name, err)
		}
		if want != string(text) {
			t.Errorf("%s is stale: run `make generate`", name)
		}
	}
}

// Factories and plans have one set of content types.
func TestContentTypesHaveOneSetOfValues(t *testing.T) {
	sets := map[string][]string{}
	contractMembers(Document(), func(at, member string, s *huma.Schema) {
		if member != "content_types" {
			return
		}
		all := s.Items
		if all.Ref != "" {
			all = Document().Components.Schemas.Map()[strings.TrimPrefix(all.Ref, "#/components/schemas/")]
		}
		for _, v := range listed(all) {
			sets[at] = append(sets[at], v.(string))
		}
		slices.Sort(sets[at])
	})
	want := []string{"carousel", "long_video", "music_clip", "post", "short_video", "story", "video"}
	for at, got := range sets {
		if !slices.Equal(got, want) {
			t.Errorf("the content types of %s are %v", at, got)
		}
	}
	if len(sets) < 5 {
		t.Errorf("only %d members have content types", len(sets))
	}
}

// A status says whether something is new, or goes on: by the name of the operation and the states of the answer.
func TestStatusesFollowTheirRule(t *testing.T) {
	stated := map[string]string{}
	for _, row := range contractRows(t, "Status") {
		for _, op := range quotedIn(row[0]) {
			stated[op] = row[1]
		}
	}
	working := map[string]bool{"queued": true, "pending": true}
	for _, row := range contractRows(t, "States") {
		if row[0] == "working" {
			for _, state := range quotedIn(row[1]) {
				working[state] = true
			}
		}
	}
	doc := Document()
	made := regexp.MustCompile(`^(create|add|invite|connect)[A-Z]`)
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for method, o := range methodsOf(doc.Paths[path]) {
			want := "200"
			if method == http.MethodPost && made.MatchString(o.OperationID) {
				want = "201"
				if slices.ContainsFunc(statesOf(doc, o), func(s string) bool { return working[s] }) {
					want = "202"
				}
			}
			if of, ok := stated[o.OperationID]; ok {
				if want == of {
					t.Errorf("testdata/contract.md states %s of %s, which is the rule", of, o.OperationID)
				}
				want = of
				delete(stated, o.OperationID)
			}
			if o.Responses[want] == nil {
				t.Errorf("%s answers %v, not %s: follow the rule, or name it in testdata/contract.md", o.OperationID,
					slices.Sorted(maps.Keys(o.Responses)), want)
			}
		}
	}
	for op := range stated {
		t.Errorf("testdata/contract.md states the status of %s, which is no operation", op)
	}
}

// methodsOf returns the operations of a path by their methods.
func methodsOf(p *huma.PathItem) map[string]*huma.Operation {
	all := map[string]*huma.Operation{}
	for method, o := range map[string]*huma.Operation{http.MethodGet: p.Get, http.MethodPost: p.Post,
		http.MethodPatch: p.Patch, http.MethodPut: p.Put, http.MethodDelete: p.Delete} {
		if o != nil {
			all[method] = o
		}
	}
	return all
}

// statesOf returns the states that the data of the answer of an operation may have.
func statesOf(doc *huma.OpenAPI, o *huma.Operation) (states []string) {
	for status, r := range o.Responses {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		if r.Ref != "" {
			r = doc.Components.Responses[r.Ref[strings.LastIndexByte(r.Ref, '/')+1:]]
		}
		data := memberOf(doc, r.Content["application/json"].Schema, "data")
		if data != nil && data.Items != nil {
			data = data.Items
		}
		if state := memberOf(doc, data, "state"); state != nil {
			for _, v := range listed(state) {
				states = append(states, v.(string))
			}
		}
	}
	return states
}

// memberOf returns the schema of a member, which may be in a part of the schema, or nil.
func memberOf(doc *huma.OpenAPI, s *huma.Schema, member string) *huma.Schema {
	whole := func(s *huma.Schema) *huma.Schema {
		for s != nil && s.Ref != "" {
			s = doc.Components.Schemas.Map()[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
		}
		return s
	}
	if s = whole(s); s == nil {
		return nil
	}
	if m := s.Properties[member]; m != nil {
		return whole(m)
	}
	for _, part := range slices.Concat(s.AllOf, s.OneOf, s.AnyOf) {
		if m := memberOf(doc, part, member); m != nil {
			return m
		}
	}
	return nil
}

// The type of an event is a resource and a past participle.
func TestEventsSayWhatHappened(t *testing.T) {
	except := map[string]bool{}
	for _, row := range contractRows(t, "Events") {
		for _, of := range quotedIn(row[0]) {
			except[of] = true
		}
	}
	doc := Document()
	for _, of := range slices.Sorted(maps.Keys(doc.Webhooks)) {
		resource, verb, _ := strings.Cut(of, ".")
		past := strings.HasSuffix(verb, "ed") || verb == "changes_requested"
		if resource == "" || past == except[of] {
			t.Errorf("the event %s: past participle %v, excepted %v", of, past, except[of])
		}
		delete(except, of)
	}
	for of := range except {
		t.Errorf("docs/contract.md excepts the event %s, which is none", of)
	}
}

// Lists have one page and one order, but for those that the contract names.
func TestListsHaveOnePage(t *testing.T) {
	text, err := os.ReadFile(contractFile)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Lists and filters\n")
	section, _, _ = strings.Cut(section, "\n## ")
	named := func(after string) map[string]bool {
		_, rest, _ := strings.Cut(section, after)
		rest, _, _ = strings.Cut(rest, ".")
		all := map[string]bool{}
		for _, op := range quotedIn(rest) {
			all[op] = true
		}
		return all
	}
	unordered, fields := named("as they are no history:"), named("`fields` is for")
	ordered := named("where an index orders:")
	doc := Document()
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		o := doc.Paths[path].Get
		if o == nil || !strings.HasPrefix(o.OperationID, "list") {
			continue
		}
		has := map[string]*huma.Param{}
		for _, p := range o.Parameters {
			if p.Ref != "" {
				p = doc.Components.Parameters[p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]]
			}
			has[p.Name] = p
		}
		if has["limit"] == nil || has["cursor"] == nil {
			t.Errorf("%s has no limit or no cursor", o.OperationID)
		}
		for name, except := range map[string]bool{"order": !unordered[o.OperationID], "fields": fields[o.OperationID],
			"order_by": ordered[o.OperationID]} {
			if _, ok := has[name]; ok != except {
				t.Errorf("%s has %s: %v; docs/contract.md says %v", o.OperationID, name, ok, except)
			}
		}
	}
}
