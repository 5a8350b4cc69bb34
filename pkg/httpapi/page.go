package httpapi

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/sheet"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi/schema"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// SliceInput holds the query parameters of a list in a fixed order. Embed it.
type SliceInput struct {
	// Maximum number of results.
	Limit int `query:"limit" minimum:"1" maximum:"100" default:"20"`
	// next_cursor of the previous page. The filters and the order must be the same.
	Cursor string `query:"cursor"`
}

// PageInput holds the query parameters of a list by time. Embed it.
type PageInput struct {
	SliceInput
	// Order of the results: desc is newest first, asc oldest first.
	Order string `query:"order" enum:"asc,desc" default:"desc"`
}

// Page is the result of a list operation.
type Page[T any] struct {
	Items []T
	Next  string // empty at the end
	// Members are those that the results are returned with; see Fields. Nil stands for all.
	Members []string
}

// ListItems reads a page of a query and renders its items. Other parameters that identify the list (usually none) must
// be in the query's filters.
func ListItems[T any](ctx context.Context, db *store.DB, q store.Query, in PageInput,
	render func(store.Item) (T, error)) (Page[T], error) {
	q.Limit, q.OldestFirst = in.Limit, in.Order == "asc"
	list := fingerprint(ctx, q)
	if in.Cursor != "" {
		after, err := parseCursor(ctx, in.Cursor, list)
		if err != nil {
			return Page[T]{}, err
		}
		q.After = after
	}
	found, err := find(ctx, db, anyOf(q))
	if err != nil {
		return Page[T]{}, err
	}
	page := Page[T]{Items: make([]T, 0, len(found.Items))}
	for _, it := range found.Items {
		v, err := render(it)
		if err != nil {
			return Page[T]{}, err
		}
		page.Items = append(page.Items, v)
	}
	if found.Next != nil {
		page.Next, err = formatCursor(ctx, *found.Next, list)
	}
	return page, err
}

// mostReads bounds the pages that are read for one page of an index that cannot judge filters.
const mostReads = 5

// find reads a page of a query. The filters of an index that holds keys only are judged here.
func find(ctx context.Context, db *store.DB, q store.Query) (found store.Page, err error) {
	if !q.Index.KeysOnly() {
		return db.List(ctx, q)
	}
	bare := unfiltered(q)
	for range mostReads {
		bare.Limit = q.Limit - len(found.Items)
		page, err := db.List(ctx, bare)
		if err != nil {
			return found, err
		}
		for _, it := range page.Items {
			if passes(q, it) {
				found.Items = append(found.Items, it)
			}
		}
		bare.After, found.Next = page.Next, page.Next
		if page.Next == nil || len(found.Items) == q.Limit {
			break
		}
	}
	return found, nil
}

// unfiltered returns a query without its filters.
func unfiltered(q store.Query) store.Query {
	q.Filters, q.OneOf, q.Contains, q.Keep = nil, nil, nil, nil
	return q
}

// passes reports whether an item has the values of the filters of a query.
func passes(q store.Query, it store.Item) bool {
	for name, value := range q.Filters {
		has := it.Filters[name]
		if name == store.ProfileFilter {
			has = string(it.Owner.Profile)
		}
		if value != "" && has != value {
			return false
		}
	}
	for name, values := range q.OneOf {
		if len(values) > 0 && !slices.Contains(values, it.Filters[name]) {
			return false
		}
	}
	for name, texts := range q.Contains {
		for _, part := range texts {
			if !strings.Contains(it.Filters[name], part) {
				return false
			}
		}
	}
	return q.Keep == nil || q.Keep(it)
}

// Search holds the query parameter q. Embed it if a list is searched by words.
type Search struct {
	// Only results with all these words in their names and texts, in any case of their letters, or with an id that
	// begins so.
	Q string `query:"q" maxLength:"100" example:"cold brew"`
}

// searched are the members of documents that a search reads.
type searched struct {
	Name, Title, Caption, Prompt, Handle string
	DisplayName                          string `json:"display_name"`
	// Item has those of a content item.
	Item *searched
}

// Into bounds a list to what the search finds.
func (s Search) Into(q *store.Query) {
	if s.Q == "" {
		return
	}
	q.CallerFilters = map[string][]string{"q": {s.Q}}
	q.Keep = func(it store.Item) bool {
		var of searched
		if it.Decode(&of) != nil {
			return false
		}
		if of.Item != nil {
			of = *of.Item
		}
		return strings.HasPrefix(it.PK, s.Q) ||
			text.HasWords(s.Q, of.Name, of.Title, of.Caption, of.Prompt, of.Handle, of.DisplayName)
	}
}

// AnyOf returns the filter that passes any of the values. No value may contain a comma.
func AnyOf[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range slices.Sorted(slices.Values(values)) {
		texts[i] = string(v)
	}
	return strings.Join(slices.Compact(texts), ",")
}

// anyOf returns the query with the filters that AnyOf has made as lists of values.
func anyOf(q store.Query) store.Query {
	filters := map[string]string{}
	lists := map[string][]string{}
	maps.Copy(lists, q.OneOf)
	for name, value := range q.Filters {
		if strings.Contains(value, ",") {
			lists[name] = strings.Split(value, ",")
		} else {
			filters[name] = value
		}
	}
	q.Filters, q.OneOf = filters, lists
	return q
}

// Owned returns the query of the caller's resources of a kind that were created in the period. Their ids have the
// prefix.
func Owned(ctx context.Context, kind, prefix string, made Period,
	filters map[string]string) (q store.Query, err error) {
	q = AllOwned(ctx, kind, filters)
	q.From, q.To, err = made.Bounds(prefix)
	return q, err
}

// AllOwned is Owned for resources of any time.
func AllOwned(ctx context.Context, kind string, filters map[string]string) store.Query {
	return store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(auth.FromContext(ctx).Owner, kind),
		Filters: filters}
}

// Filtered returns the query that the input of a list asks for: the caller's resources of a kind, whose ids have the
// prefix. Parameters with the tag filter select those that have their value under that name, or one of their values.
func Filtered(ctx context.Context, kind, prefix string, input any) (q store.Query, page PageInput, err error) {
	q = AllOwned(ctx, kind, map[string]string{})
	in := reflect.ValueOf(input).Elem()
	for _, f := range reflect.VisibleFields(in.Type()) {
		if !f.IsExported() {
			continue
		}
		switch v := in.FieldByIndex(f.Index).Interface().(type) {
		case PageInput:
			page = v
		case resource.MetadataFilter:
			v.Into(&q)
		case Search:
			v.Into(&q)
		case Period:
			if q.From, q.To, err = v.Bounds(prefix); err != nil {
				return q, page, err
			}
		default:
			if name := f.Tag.Get("filter"); name != "" {
				q.Filters[name] = anyText(reflect.ValueOf(v))
			}
		}
	}
	return q, page, nil
}

// anyText returns a text, or AnyOf of several.
func anyText(v reflect.Value) string {
	if v.Kind() == reflect.String {
		return v.String()
	}
	texts := make([]string, v.Len())
	for i := range texts {
		texts[i] = v.Index(i).String()
	}
	return AnyOf(texts)
}

// Only bounds the query of a list by ids to the one of the parameter id, if it is sent. Ids have the prefix, and noun
// names what they are of, such as "a promotion".
func Only(q *store.Query, prefix, noun, one string) error {
	if one == "" {
		return nil
	}
	if !id.Valid(prefix, one) {
		return errs.Invalid("id", "is not the id of %s", noun)
	}
	q.From, q.To = max(one, q.From), one
	return nil
}

const (
	// MostScanned bounds the items that are read for one page of results, and atOnce those of one round trip.
	MostScanned, atOnce = 500, 100
	// behind is greater than the key of each result.
	behind = "~"
)

// ListParts returns a page of the results that the items of a query of store.ByDue have: any number each. The function
// parts returns those of some items, in the order of the list by their keys. Filters identify the list. A page before
// the end may be short or empty if few results pass, because it reads a bounded number of items.
func ListParts[T any](ctx context.Context, db *store.DB, q store.Query, filters map[string]string, in PageInput,
	parts func(context.Context, []store.Item) ([][]T, error), key func(T) string) (page Page[T], err error) {
	asc := in.Order == "asc"
	list := fingerprint(ctx, store.Query{Filters: filters, OldestFirst: asc})
	var read store.Cursor // the place of an item, and the key of the last of its results that was read
	if in.Cursor != "" {
		at, err := parseCursor(ctx, in.Cursor, list)
		if err != nil {
			return page, err
		}
		if read = *at; asc {
			q.From = read.Sort
		} else {
			q.To = read.Sort
		}
	}
	q = anyOf(q)
	bare, last := unfiltered(q), read
	bare.Limit, bare.OldestFirst = in.Limit+1, asc
	for scanned := 0; scanned < MostScanned; scanned += bare.Limit {
		found, err := db.List(ctx, bare)
		if err != nil {
			return page, err
		}
		items := slices.DeleteFunc(found.Items, func(it store.Item) bool { return !passes(q, it) })
		all, err := parts(ctx, items)
		if err != nil {
			return page, err
		}
		for i, of := range all {
			for _, v := range of {
				at := store.Cursor{SK: key(v), Sort: items[i].Due.SK}
				if at.Sort == read.Sort && (asc && at.SK <= read.SK || !asc && at.SK >= read.SK) {
					continue
				}
				if len(page.Items) == in.Limit {
					page.Next, err = formatCursor(ctx, last, list)
					return page, err
				}
				page.Items, last = append(page.Items, v), at
			}
		}
		if found.Next == nil {
			return page, nil
		}
		bare.After, bare.Limit, last = found.Next, min(2*bare.Limit, atOnce), store.Cursor{Sort: found.Next.Sort}
		if asc {
			last.SK = behind
		}
	}
	page.Next, err = formatCursor(ctx, last, list)
	return page, err
}

// IsSheet reports whether the call is answered with comma-separated values.
func IsSheet(ctx context.Context) bool { return callFrom(ctx).sheet }

// Slice returns a page of a list in memory, or the whole list if the caller accepts comma-separated values. The place
// of an element must be unique. If the list is in the order of the places, ascending or descending as strings, a page
// goes on after the place of the last one even if its element has gone since. The next page of another list goes on at
// the same number.
func Slice[T any](ctx context.Context, all []T, filters map[string]string, in SliceInput,
	place func(T) string) (Page[T], error) {
	if callFrom(ctx).sheet {
		return Page[T]{Items: all}, nil
	}
	list, read := fingerprint(ctx, store.Query{Filters: filters}), 0
	if in.Cursor != "" {
		after, err := parseCursor(ctx, in.Cursor, list)
		if err != nil {
			return Page[T]{}, err
		}
		read = following(all, *after, place)
	}
	rest := all[read:]
	page := Page[T]{Items: rest}
	if len(rest) > in.Limit {
		page.Items = rest[:in.Limit]
		read += in.Limit
		at := store.Cursor{PK: strconv.Itoa(read), Sort: ordered(all, place), SK: place(all[read-1])}
		var err error
		if page.Next, err = formatCursor(ctx, at, list); err != nil {
			return Page[T]{}, err
		}
	}
	return page, nil
}

// The orders of lists in memory by the places of their elements.
const (
	ascending  = "asc"
	descending = "desc"
)

// ordered returns the order of a list of at least two elements, or an empty text if it has none.
func ordered[T any](all []T, place func(T) string) string {
	compare := func(a, b T) int { return strings.Compare(place(a), place(b)) }
	switch {
	case slices.IsSortedFunc(all, compare):
		return ascending
	case slices.IsSortedFunc(all, func(a, b T) int { return compare(b, a) }):
		return descending
	}
	return ""
}

// following returns the number of the elements that a caller has read up to a cursor, whose element may have gone.
func following[T any](all []T, at store.Cursor, place func(T) string) int {
	if i := slices.IndexFunc(all, func(v T) bool { return place(v) == at.SK }); i >= 0 {
		return i + 1
	}
	read, _ := strconv.Atoi(at.PK) // which Slice has written
	if at.Sort != "" {
		read = slices.IndexFunc(all, func(v T) bool {
			is := place(v)
			return at.Sort == ascending && is > at.SK || at.Sort == descending && is < at.SK
		})
		if read < 0 {
			read = len(all)
		}
	}
	return min(max(read, 0), len(all))
}

// fingerprint distinguishes lists: a cursor works only with the list that returned it.
func fingerprint(ctx context.Context, q store.Query) string {
	p := auth.FromContext(ctx)
	parts := []any{callFrom(ctx).operation, p.Account, p.Mode, q.Partition, q.From, q.To, q.Filters, q.Prefixes,
		q.OldestFirst}
	if len(q.Ranges)+len(q.Contains) > 0 { // cursors of lists without them stay valid
		parts = append(parts, q.Ranges, q.Contains)
	}
	if len(q.CallerFilters) > 0 {
		parts = append(parts, q.CallerFilters)
	}
	for i, bounds := range append([]map[string]store.Bound{q.Bounds}, q.Either...) {
		for _, name := range slices.Sorted(maps.Keys(bounds)) {
			parts = append(parts, i, name, bounds[name].After) // the bound itself may be the time of the call
		}
	}
	b, _ := json.Marshal(parts)
	return string(b)
}

// Period holds the query parameters from and to. Embed it if a list is filtered by time.
type Period struct {
	// Only results created at this time or later (RFC 3339).
	From time.Time `query:"from"`
	// Only results created before this time (RFC 3339).
	To time.Time `query:"to"`
}

// Bounds returns the smallest and largest id in the period. A bound is empty if the period is open.
func (p Period) Bounds(prefix string) (from, to string, err error) {
	if !p.From.IsZero() && !p.To.IsZero() && !p.From.Before(p.To) {
		return "", "", errs.Invalid("from", "must be before to")
	}
	if !p.From.IsZero() {
		from = id.First(prefix, p.From)
	}
	if !p.To.IsZero() {
		// The bound of a range is inclusive, and no id consists of zeros alone.
		to = id.First(prefix, p.To)
	}
	return from, to, nil
}

// Contains reports whether a time lies in the period.
func (p Period) Contains(t time.Time) bool {
	return !t.Before(p.From) && (p.To.IsZero() || t.Before(p.To))
}

// A cursor is the position in a list at which the next page begins, after a MAC over the position and the list:
// operation, account, mode, filters, order. It is not encrypted: it contains only ids, and the partition is always that
// of the caller.

func formatCursor(ctx context.Context, at store.Cursor, list string) (string, error) {
	keys, err := cursorKeys(ctx)
	if err != nil {
		return "", err
	}
	place, err := json.Marshal(at)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(cursorMAC(keys[0], list, place), place...)), nil
}

func parseCursor(ctx context.Context, s, list string) (*store.Cursor, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) < sha256.Size {
		return nil, errInvalidCursor()
	}
	keys, err := cursorKeys(ctx)
	if err != nil {
		return nil, err
	}
	mac, place := b[:sha256.Size], b[sha256.Size:]
	for _, key := range keys {
		if hmac.Equal(mac, cursorMAC(key, list, place)) {
			at := &store.Cursor{}
			return at, json.Unmarshal(place, at)
		}
	}
	return nil, errInvalidCursor()
}

func cursorKeys(ctx context.Context) ([][]byte, error) {
	return callFrom(ctx).secret.Keys(ctx, nil, "cursor")
}

func cursorMAC(key []byte, list string, place []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(list)) // JSON: it has no NUL in it
	mac.Write([]byte{0})
	mac.Write(place)
	return mac.Sum(nil)
}

func errInvalidCursor() error {
	e := errs.New(errs.InvalidCursor, "The cursor does not belong to this list with these filters and this order. "+
		"Send it with those of the request that returned it, or start without a cursor.")
	e.Param = "cursor"
	return e
}

// Fields holds the query parameter of a list that returns only some members of its results. Embed it.
type Fields struct {
	// Only these members of each result, separated by commas, such as state,publish_at. The id is always returned; all
	// other members are left out. Absent: all.
	Fields []string `query:"fields" nullable:"false" example:"[\"state\",\"publish_at\"]"`
}

// Of returns the members that a call asks for, with the id, or nil for all. It refuses what is no member of a type.
func (f Fields) Of(of reflect.Type) ([]string, error) {
	if len(f.Fields) == 0 {
		return nil, nil
	}
	known := MembersOf(of)
	for _, name := range f.Fields {
		if !slices.Contains(known, name) {
			return nil, errs.Invalid("fields", "has %q, which is no member of the results%s", name,
				text.NearestHint(name, known))
		}
	}
	return append([]string{"id"}, f.Fields...), nil
}

// MembersOf returns the names of the members of a struct as JSON, as it declares them: those of embedded structs are in
// their places. Other types have none.
func MembersOf(of reflect.Type) (names []string) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// sparse returns results with some of their members only.
func sparse[T any](all []T, members []string) ([]map[string]json.RawMessage, error) {
	out := make([]map[string]json.RawMessage, 0, len(all))
	for _, v := range all {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		var full map[string]json.RawMessage
		if err := json.Unmarshal(b, &full); err != nil {
			return nil, err
		}
		some := map[string]json.RawMessage{}
		for _, name := range members {
			if value, ok := full[name]; ok {
				some[name] = value
			}
		}
		out = append(out, some)
	}
	return out, nil
}

const sheetType = "text/csv"

// acceptsSheet reports whether a caller asks for comma-separated values.
func acceptsSheet(h http.Header) bool {
	for _, kind := range strings.Split(strings.Join(h.Values("Accept"), ","), ",") {
		if name, parameters, err := mime.ParseMediaType(kind); err == nil && name == sheetType &&
			parameters["q"] != "0" {
			return true
		}
	}
	return false
}

// renderSheet returns a list as a file of comma-separated values.
func renderSheet[T any](op Op, all []T) (*answer, error) {
	body, err := sheet.Of(all)
	if err != nil {
		return nil, err
	}
	return &answer{Status: http.StatusOK, ContentType: sheetType + "; charset=utf-8",
		Disposition: `attachment; filename="` + op.Sheet + `"`, Body: body}, nil
}

// Shape returns the JSON Schema of a body, complete and without references, for writers without the document, such as a
// language model. It can omit some of the members.
func Shape(body reflect.Type, without ...string) (json.RawMessage, error) {
	schemas := huma.NewMapRegistry(schemaPath, huma.DefaultSchemaNamer)
	own := schemas.Schema(body, false, "")
	EmbeddedTexts().Registered(schemas, schemaPath)
	s := whole(schemas, own)
	maps.DeleteFunc(s.Properties, func(name string, _ *huma.Schema) bool { return slices.Contains(without, name) })
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return slices.Contains(without, name) })
	return json.Marshal(s)
}

// whole returns a copy of a schema in which references are replaced by their schemas. It omits patterns: they serve
// validation, not writing.
func whole(schemas huma.Registry, s *huma.Schema) *huma.Schema {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		referred := *schemas.SchemaFromRef(s.Ref)
		if s.Description != "" {
			referred.Description = s.Description
		}
		s = &referred
	}
	c := *s
	schema.Fill(&c)
	c.Pattern, c.Format, c.Examples = "", "", nil
	c.Items = whole(schemas, s.Items)
	if s.Properties != nil {
		c.Properties = map[string]*huma.Schema{}
	}
	for name, member := range s.Properties {
		c.Properties[name] = whole(schemas, member)
	}
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		c.AdditionalProperties = whole(schemas, values)
	}
	return &c
}
