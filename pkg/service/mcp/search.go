package mcp

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	nearest "github.com/content-automation/api/pkg/base/text"
)

const (
	// mostFound is the number of operations that a search returns.
	mostFound = 5
	// mostMembers bounds the parameters of the best one of several, in characters.
	mostMembers = 3500
	// leastPrefix is the least length of a word of the table that longer words may begin with.
	leastPrefix = 4
	// leastCompound is the least length of a word that is made of others, and leastInside that of those of them that do
	// not begin it, so that short ones are not found by chance.
	leastCompound = 9
	leastInside   = 5
	// verbal is the weight of the verbs that many operations have, which is less than that of a resource, and reading
	// that of the verbs of reading, which are in most questions.
	verbal  = 1.6
	reading = 0.5
	// unsaid is the part of its score that an operation loses if a question has none of the words of its id. One that
	// has all of them loses nothing: so "create a factory" is createFactory, and not addProductPhoto.
	unsaid = 0.35
	// intent is the part of its score that an operation gains if it reads and the question asks to be shown something,
	// or if it changes something and the question asks for a change.
	intent = 0.25
)

// asks reports whether a question with certain terms asks to be shown something alone, and whether it asks for a
// change.
func asks(said map[string]bool) (shown, changed bool) {
	for verb := range verbs {
		if verb != "list" && verb != "get" && said[verb] {
			changed = true
		}
	}
	return (said["list"] || said["get"]) && !changed, changed
}

// verbs are the verbs of ids that say nothing of the resource.
var verbs = map[string]float64{"create": verbal, "add": verbal, "updat": verbal, "chang": verbal, "delet": verbal,
	"remov": verbal, "send": verbal, "list": reading, "get": reading}

// wordsText is the table of plain words: a line has terms of operations, a tab, and words that mean them, in the
// languages en, de, es, fr and ru. A word that ends with - is the beginning of words. A term that begins with @ is the
// id of an operation, for words that mean it alone. Words with _ between them are a phrase, whose last one may be a
// beginning.
//
//go:embed words.tsv
var wordsText string

// index has what a search looks for.
type index struct {
	// terms are the terms of each operation with their weights.
	terms []map[string]float64
	// rare is the weight of a term by its rarity.
	rare map[string]float64
	// words and beginnings are the terms of plain words, and of their beginnings, and phrases those of several words.
	words, beginnings, phrases map[string][]string
	// idTerms are the terms of the id of each operation, and reads says whether it changes nothing.
	idTerms [][]string
	reads   []bool
}

var searchIndex = sync.OnceValue(func() *index {
	x := &index{rare: map[string]float64{}, words: map[string][]string{}, beginnings: map[string][]string{},
		phrases: map[string][]string{}}
	seen := map[string]int{}
	for _, o := range operations() {
		terms := map[string]float64{}
		for _, part := range []struct {
			text   string
			weight float64
		}{{camel().ReplaceAllString(o.ID, "$1 $2"), 4}, {o.Summary, 3}, {o.Path, 2}, {o.Text, 1}} {
			for _, word := range wordsOf(part.text) {
				terms[stem(word)] = max(terms[stem(word)], part.weight)
			}
		}
		var named []string
		for _, word := range wordsOf(camel().ReplaceAllString(o.ID, "$1 $2")) {
			named = append(named, stem(word))
		}
		terms["@"+strings.ToLower(o.ID)] = 4
		x.terms, x.idTerms = append(x.terms, terms), append(x.idTerms, named)
		x.reads = append(x.reads, o.Method == http.MethodGet || free[o.ID])
		for term, weight := range terms {
			if weight >= 2 { // in the id, the summary or the path
				seen[term]++
			}
		}
	}
	for _, terms := range x.terms {
		for term := range terms {
			x.rare[term] = math.Log(1 + float64(len(x.terms))/float64(max(seen[term], 4)))
		}
	}
	maps.Copy(x.rare, verbs)
	for line := range strings.Lines(wordsText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		terms, plain, _ := strings.Cut(strings.TrimSpace(line), "\t")
		var all []string
		for _, term := range strings.Fields(terms) {
			if strings.HasPrefix(term, "@") {
				all = append(all, strings.ToLower(term))
			} else {
				all = append(all, stem(term))
			}
		}
		for _, word := range strings.Fields(plain) {
			beginning, is := strings.CutSuffix(nearest.Fold(word), "-")
			if strings.Contains(word, "_") {
				phrase := strings.ReplaceAll(nearest.Fold(word), "_", " ")
				x.phrases[phrase] = append(x.phrases[phrase], all...)
			} else if is {
				x.beginnings[beginning] = append(x.beginnings[beginning], all...)
			} else {
				x.words[stem(beginning)] = append(x.words[stem(beginning)], all...)
			}
		}
	}
	return x
})

var camel = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([a-z])([A-Z])`)
})

func wordsOf(text string) []string {
	return strings.FieldsFunc(nearest.Fold(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// stem returns an English word without its usual endings, so that forms of it are alike. Words of other languages stay
// nearly as they are: the table has their beginnings.
func stem(word string) string {
	if len(word) > 4 && strings.HasSuffix(word, "ies") {
		return word[:len(word)-3] + "y"
	}
	for _, ending := range []string{"ings", "ing", "ed", "es", "s"} {
		if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) > 3 && !strings.HasSuffix(word, "ss") {
			word = rest
			break
		}
	}
	if len(word) > 4 {
		word = strings.TrimSuffix(word, "e")
	}
	return word
}

// meant returns the terms that a word of a question may mean. German words are made of others: so a long word may also
// have one of the table in its middle.
func (x *index) meant(word string) []string {
	terms := append([]string{stem(word)}, x.words[stem(word)]...)
	runes := []rune(word)
	runes = runes[:min(len(runes), longestWord)]
	for from := range runes {
		if from > 0 && len(runes) < leastCompound {
			break
		}
		least := leastPrefix
		if from > 0 {
			least = leastInside
		}
		for to := from + least; to <= len(runes); to++ {
			terms = append(terms, x.beginnings[string(runes[from:to])]...)
		}
	}
	return append(terms, x.beginnings[word]...)
}

// mostWords is the number of words of a question that count, and longestWord that of the letters in which parts are
// looked for: whole pages take CPU time, and find nothing better.
const mostWords, longestWord = 500, 64

// scores returns how well each operation matches a question.
func (x *index) scores(question string) []float64 {
	scores, words := make([]float64, len(x.terms)), wordsOf(question)
	words = words[:min(len(words), mostWords)]
	var meant [][]string
	for _, word := range words {
		meant = append(meant, x.meant(word))
	}
	text := " " + strings.Join(words, " ") + " "
	for phrase, terms := range x.phrases {
		if strings.Contains(text, " "+phrase) {
			meant = append(meant, terms)
		}
	}
	said := map[string]bool{}
	for _, terms := range meant {
		for _, term := range terms {
			said[term] = true
		}
		for i, has := range x.terms {
			best := 0.0
			for _, term := range terms {
				best = max(best, has[term]*x.rare[term])
			}
			scores[i] += best
		}
	}
	shown, changed := asks(said)
	for i, named := range x.idTerms {
		if reads := x.reads[i]; reads && shown || !reads && changed {
			scores[i] *= 1 + intent
		}
		without := 0
		for _, term := range named {
			if !said[term] {
				without++
			}
		}
		if !said["@"+strings.Join(named, "")] {
			scores[i] *= 1 - unsaid*float64(without)/float64(len(named))
		}
	}
	return scores
}

// find returns the operations that match a question best, of those that are permitted.
func find(question string, may func(scope string) bool) []operation {
	all, scores := operations(), searchIndex().scores(question)
	var order []int
	for i, o := range all {
		if scores[i] > 0 && may(o.Scope) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var found []operation
	for _, i := range order[:min(len(order), mostFound)] {
		found = append(found, all[i])
	}
	return found
}

// taskTools are the tools that do the task of an operation. They ask for less than the operation does.
var taskTools = map[string]string{
	"approveContentItem": "review_content", "createContentItem": "create_content", "createContentPlan": "plan_week",
	"createEstimate": "estimate", "createMedia": "upload_media", "createProduct": "save_product",
	"getContentItem": "get_content", "getFactoryAnalytics": "analytics", "getMe": "account_overview",
	"listContentItems": "list_content", "listFactories": "list_factories", "listProducts": "products",
	"publishContentItem": "schedule_or_publish", "regenerateContentItem": "revise_content",
	"requestChanges": "review_content", "scheduleContentItem": "schedule_or_publish",
	"syncFeed": "sync_feed", "updateContentItem": "revise_content",
}

type searchIn struct {
	Query string `json:"query"`
}

// search returns the operations that match best: of the first one its parameters, of the others what they do.
func search(_ context.Context, c call, in searchIn) (toolResult, error) {
	one := strings.TrimSpace(in.Query)
	for _, o := range operations() {
		if strings.EqualFold(o.ID, one) && c.may(o.Scope) {
			return toolResult{text: "Call it with call_operation.", data: object{"operations": []any{o.whole()}},
					all: true},
				nil
		}
	}
	list := []any{}
	for i, o := range find(in.Query, c.may) {
		shown := o.brief()
		if i == 0 {
			if whole := o.whole(); utf8.RuneCountInString(encode(whole)) <= mostMembers {
				shown = whole
			}
		}
		list = append(list, shown)
	}
	if len(list) == 0 {
		return toolResult{text: "No operation matches that the credential may call. Use other words, in English, " +
			"German, Spanish, French or Russian.", data: object{"operations": list}}, nil
	}
	return toolResult{text: "Use the tool that one names, or call one with call_operation. For the parameters of " +
		"another one, search for its operation_id.", data: object{"operations": list}}, nil
}

// brief returns what an operation does, without its parameters.
func (o operation) brief() object {
	return object{"operation_id": o.ID, "call": o.Method + " " + o.Path, "summary": o.Summary, "tool": taskTools[o.ID]}
}

// whole returns an operation with its parameters: by name, each with its type and what it is.
func (o operation) whole() object {
	out := o.brief()
	out["description"] = o.Text
	for name, list := range map[string][]parameter{"query": o.Query, "body": o.Body} {
		members, required := object{}, []string{}
		for _, p := range list {
			text := p.Type
			if p.Doc != "" {
				text += ": " + p.Doc
			}
			members[p.Name] = text
			if p.Required {
				required = append(required, p.Name)
			}
		}
		out[name] = members
		if name == "body" {
			out["required"] = required
		}
	}
	return out
}

// operation is an operation of the API, as the document describes it.
type operation struct {
	ID      string `json:"operation_id"`
	Method  string `json:"method"`
	Path    string `json:"path"`
	Summary string `json:"summary"`
	Text    string `json:"description,omitempty"`
	Scope   string `json:"scope"`
	// Opens is what it opens to others, or what nobody takes back.
	Opens []string    `json:"opens,omitempty"`
	Query []parameter `json:"query,omitempty"`
	Body  []parameter `json:"body,omitempty"`
}

type parameter struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required,omitempty"`
	Doc      string `json:"doc,omitempty"`
}

//go:embed operations.json
var operationsJSON []byte

// operations are all operations that agents may call. They are read when they are needed first.
var operations = sync.OnceValue(func() []operation {
	var all []operation
	if err := json.Unmarshal(operationsJSON, &all); err != nil {
		panic("mcp: " + err.Error()) // a test reads them
	}
	return slices.DeleteFunc(all, func(o operation) bool { return o.Scope == "person" || forPeople[o.ID] })
})

// forPeople are the operations that give keys rights. An agent that was deceived could pass them on. They are those
// that open a right: a test compares them.
var forPeople = map[string]bool{"createApiKey": true, "rotateApiKey": true, "updateApiKey": true}

// free are the operations that are no GET and change nothing.
var free = map[string]bool{"createEstimate": true, "estimateGeneration": true}

// callOperationTool is the tool whose scope is that of the operation that it calls.
const callOperationTool = "call_operation"

// longestAddress bounds the address of an operation that is called. API Gateway takes 10,240 bytes with the headers.
const longestAddress = 8 << 10

type operationIn struct {
	orderIn
	OperationID string            `json:"operation_id"`
	Path        map[string]string `json:"path,omitempty"`
	Query       map[string]string `json:"query,omitempty"`
	Body        map[string]any    `json:"body,omitempty"`
	Full        bool              `json:"full,omitempty"`
}

var operationTexts = map[string]string{
	"operation_id": "from search_operations",
	"full":         wholeText,
}

func (s *server) addOperations() {
	add(s, tool[searchIn]{name: "search_operations",
		doc:   "Find any operation by plain words in English, German, Spanish, French or Russian.",
		texts: map[string]string{"query": "words, or an operation id for its parameters"},
		out:   []string{"operations[]"}, run: search})
	add(s, tool[operationIn]{name: callOperationTool, effect: publishes,
		doc:   "Call an operation that search_operations found.",
		texts: operationTexts, out: []string{"next_cursor"}, run: callOperation})
}

// coerced returns a body whose texts, numbers and booleans have the types of their members, where no other can be
// meant.
func (o operation) coerced(body object) object {
	out := maps.Clone(body)
	for _, p := range o.Body {
		kind := p.Type
		if !slices.Contains([]string{"string", "integer", "boolean"}, kind) {
			continue
		}
		if value, sent := out[p.Name]; sent {
			out[p.Name] = coerced(&jsonschema.Schema{Type: kind}, value)
		}
	}
	return out
}

// callOperation calls an operation by its id.
func callOperation(ctx context.Context, c call, in operationIn) (toolResult, error) {
	all := operations()
	at := slices.IndexFunc(all, func(o operation) bool { return o.ID == in.OperationID })
	if at < 0 {
		var known []string
		for _, o := range all {
			known = append(known, o.ID)
		}
		if forPeople[in.OperationID] {
			return toolResult{}, invalid("operation_id", "Agents make and change no API keys: a person does this in "+
				"the account area.")
		}
		return toolResult{}, invalid("operation_id", "There is no operation %q%s. Use "+
			"search_operations.", in.OperationID,
			nearest.NearestHint(in.OperationID, known))
	}
	o := all[at]
	path, used := o.Path, 0
	for name, value := range in.Path {
		if !strings.Contains(path, "{"+name+"}") {
			return toolResult{}, invalid("path."+name, "The path %s has no parameter %s.", o.Path, name)
		}
		if strings.Trim(value, ".") == "" {
			return toolResult{}, invalid("path."+name, "%s is empty.", name)
		}
		path = strings.Replace(path, "{"+name+"}", segment(value), 1)
		used++
	}
	if used < strings.Count(o.Path, "{") {
		return toolResult{}, invalid("path", "Give all parameters of the path %s.", o.Path)
	}
	query := url.Values{}
	for name, value := range in.Query {
		query.Set(name, value)
	}
	if o.Method == http.MethodGet && in.Body != nil {
		return toolResult{}, invalid("body", "%s takes no body.", o.ID)
	}
	if o.Method != http.MethodGet && !free[o.ID] || len(o.Opens) > 0 {
		switch ask, err := c.asks(in.Confirmation); {
		case err != nil:
			return toolResult{}, err
		case ask:
			return c.askFor(ctx, o, path, in)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	if len(path) > longestAddress {
		return toolResult{}, invalid("query", "Send fewer or shorter parameters: an address has up to %d bytes.",
			longestAddress)
	}
	key := ""
	if o.Method != http.MethodGet {
		key = c.key
	}
	var body any
	if in.Body != nil {
		body = o.coerced(in.Body)
	}
	a, err := c.caller.call(ctx, o.Method, path, body, key)
	if err != nil {
		return toolResult{}, err
	}
	data, err := into[any](a, nil)
	return toolResult{text: a.note() + o.ID + " succeeded.", data: object{"data": data, "next_cursor": a.NextCursor},
		all: in.Full}, err
}

// askFor asks for a confirmation of an operation, with its price if it has one.
func (c call) askFor(ctx context.Context, o operation, path string, in operationIn) (toolResult, error) {
	text := "This is a change with a live key: " + o.Summary + "."
	if len(o.Opens) > 0 {
		text += " What it opens: " + strings.Join(o.Opens, ", ") + "."
	}
	order := object{"body": in.Body}
	for name, value := range in.Path {
		order[name] = value
	}
	if pricedOperations[o.ID] || o.ID == "updateComment" && in.Body["suggest_reply"] == true {
		return c.price(ctx, o.ID, order, text)
	}
	return c.input(text, object{"method": o.Method, "path": path, "body": in.Body}), nil
}

// pricedOperations are the operations with an estimate.
var pricedOperations = map[string]bool{"createAvatar": true, "createContentItem": true, "createContentItems": true,
	"createContentPlan": true, "createImage": true, "createMusic": true, "createVideo": true, "createVoice": true,
	"regenerateContentItem": true, "sendMessage": true, "startTraining": true}
