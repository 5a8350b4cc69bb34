package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	contentautomation "github.com/content-automation/api/clients/go"
)

// group has the operations of a resource.
type group struct {
	name, doc  string
	operations []operation
}

// operation is an operation of the API. operations_gen.go has all.
type operation struct {
	id, name, method, path  string
	summary, doc            string
	args                    []string
	query, body             []parameter
	takesBody, bodyOptional bool
	match, paged            bool
	// ends says when the work has ended that the operation reads, and begins that which it begins.
	ends, begins *ends
}

// parameter is a flag for a parameter of the query or a member of the body.
type parameter struct {
	name, kind, doc string
	required        bool
	values          []string
}

// ends says when work has ended, which is read at a path.
type ends struct {
	name, path, member string
	done, failed       []string
	selects            string // the parameter that takes the id of the work, where the path has none
}

// calling has the flags of a call.
type calling struct {
	machine
	operation
	key, base, raw, idempotency, match string
	json, all, wait, insecure          bool
	until                              []string
	atMost                             time.Duration
}

// operationCommands returns a command for each resource, with one for each operation.
func operationCommands(w machine) (all []*cobra.Command) {
	for _, g := range groups {
		parent := &cobra.Command{Use: g.name, Short: g.doc, GroupID: "operations"}
		for _, o := range g.operations {
			parent.AddCommand((&calling{machine: w, operation: o}).command())
			if o.ends != nil {
				parent.AddCommand((&calling{machine: w, operation: o}).waitCommand())
			}
		}
		switch g.name {
		case "media":
			parent.AddCommand(uploadCommand(w),
				downloadCommand(w, "MEDIA_ID", "a file that you have brought in", mediaFiles))
		case "feeds":
			parent.Aliases = []string{"feed"}
			parent.AddCommand(pushCommand(w))
		case "content":
			parent.AddCommand(downloadCommand(w, "CONTENT_ITEM_ID", "the files of a content item", contentFiles))
		}
		all = append(all, parent)
	}
	return all
}

func (c *calling) command() *cobra.Command {
	cmd := c.bare(c.name, c.summary, c.doc+"\n\nIt calls "+c.method+" "+c.path+".")
	f := cmd.Flags()
	for _, p := range c.query {
		addFlag(cmd, p)
	}
	if c.takesBody {
		f.StringVar(&c.raw, "body", "", "body as JSON, @FILE, or - for the standard input; flags of members add to it")
		for _, p := range c.body {
			addFlag(cmd, p)
		}
	}
	if c.begins != nil {
		f.BoolVar(&c.wait, "wait", false, "wait until the work has ended, and print its result; failed work is the exit "+
			"status 9")
		f.DurationVar(&c.atMost, "wait-at-most", defaultWait, "with --wait: the time after which waiting ends")
	}
	if c.paged {
		f.BoolVar(&c.all, "all", false, "read all pages")
	}
	if c.method != http.MethodGet {
		f.StringVar(&c.idempotency, "idempotency-key", "", "key by which a repeat has no further effect; default: a new one")
	}
	if c.operation.match {
		f.StringVar(&c.match, "if-match", "", "change only this version of the resource")
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) }
	return cmd
}

// bare returns a command with the flags of all calls.
func (c *calling) bare(name, short, long string) *cobra.Command {
	cmd := &cobra.Command{Use: strings.TrimSpace(name + " " + strings.ToUpper(strings.Join(c.args, " "))), Short: short,
		Long: long, Args: cobra.ExactArgs(len(c.args))}
	f := cmd.Flags()
	f.StringVar(&c.key, "api-key", "", "API key; default: SVC_API_KEY, which other users of the machine do not see, "+
		"or the key of the last login")
	f.StringVar(&c.base, "base-url", "", "base URL of the API; default: BASE_URL")
	f.BoolVar(&c.json, "json", false, "print JSON")
	f.BoolVar(&c.insecure, "allow-insecure", false, "send a live key without https too, as to the sandbox at "+
		"http://sandbox:8080")
	return cmd
}

// addFlag adds the flag of a parameter.
func addFlag(cmd *cobra.Command, p parameter) {
	f, name, doc := cmd.Flags(), strings.ReplaceAll(p.name, "_", "-"), p.doc
	if p.required {
		doc = "(required) " + doc
	}
	if len(p.values) > 0 {
		doc += " (" + strings.Join(p.values, ", ") + ")"
	}
	switch p.kind {
	case "integer":
		f.Int64(name, 0, doc)
	case "number":
		f.Float64(name, 0, doc)
	case "boolean":
		f.Bool(name, false, doc)
	case "list":
		f.StringSlice(name, nil, doc)
	case "pairs":
		f.StringToString(name, nil, doc)
	default:
		f.String(name, "", doc)
	}
	if len(p.values) > 0 {
		if err := cmd.RegisterFlagCompletionFunc(name, p.complete); err != nil {
			panic(err) // The flag is there.
		}
	}
}

// complete returns what may be typed next. A list has several values, which are separated by commas.
func (p parameter) complete(_ *cobra.Command, _ []string, typed string) (found []string, _ cobra.ShellCompDirective) {
	before := ""
	if p.kind == "list" {
		before = typed[:strings.LastIndex(typed, ",")+1]
	}
	for _, value := range p.values {
		found = append(found, before+value)
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// given returns the values of the flags that were set, by the names of their parameters.
func given(f *pflag.FlagSet, all []parameter) map[string]any {
	values := map[string]any{}
	for _, p := range all {
		name := strings.ReplaceAll(p.name, "_", "-")
		if !f.Changed(name) {
			continue
		}
		switch p.kind {
		case "integer":
			values[p.name], _ = f.GetInt64(name)
		case "number":
			values[p.name], _ = f.GetFloat64(name)
		case "boolean":
			values[p.name], _ = f.GetBool(name)
		case "list":
			values[p.name], _ = f.GetStringSlice(name)
		case "pairs":
			values[p.name], _ = f.GetStringToString(name)
		default:
			values[p.name], _ = f.GetString(name)
		}
	}
	return values
}

// prepare returns the client and the path of a call.
func (c *calling) prepare(args []string) (*contentautomation.Client, string, error) {
	client, err := c.client()
	if err != nil {
		return nil, "", err
	}
	for i, name := range c.args {
		if strings.Trim(args[i], ".") == "" {
			return nil, "", fmt.Errorf("%s is empty", strings.ToUpper(name))
		}
	}
	return client, c.filled(c.path, args), nil
}

func (c *calling) run(cmd *cobra.Command, args []string) error {
	client, path, err := c.prepare(args)
	if err != nil {
		return err
	}
	body, err := c.bodyOf(cmd)
	if err != nil {
		return err
	}
	query := queryOf(given(cmd.Flags(), c.query))
	var response contentautomation.Response
	options := []contentautomation.RequestOption{contentautomation.WithResponse(&response)}
	if c.idempotency != "" {
		options = append(options, contentautomation.WithIdempotencyKey(c.idempotency))
	}
	if c.match != "" {
		options = append(options, contentautomation.WithIfMatch(`"`+strings.Trim(c.match, `"`)+`"`))
	}
	var all []json.RawMessage // of --all with --json, which is one array
	seen := map[string]bool{"": true, query.Get("cursor"): true}
	for {
		var raw json.RawMessage
		if err := client.Do(cmd.Context(), c.method, path, query, body, &raw, options...); err != nil {
			if len(all) > 0 && c.all && c.json { // what was read is worth having
				_ = c.printAll(all)
			}
			return failure{err, c.json, c.hints(err)}
		}
		if c.wait {
			return c.waitFor(cmd.Context(), client, args, raw)
		}
		var page struct {
			Data []json.RawMessage `json:"data"`
			Next string            `json:"next_cursor"` // or null
		}
		_ = json.Unmarshal(response.Body, &page) // an answer that is no list has no pages
		last := !c.all || seen[page.Next]
		if all = append(all, page.Data...); !c.all || !c.json {
			err = c.print(raw)
		} else if last {
			err = c.printAll(all)
		}
		if err != nil {
			return err
		}
		if last {
			if c.all && page.Next != "" {
				return failure{error: fmt.Errorf("the list does not end: its cursor came before (request_id %s)",
					response.RequestID), json: c.json}
			}
			if page.Next != "" {
				fmt.Fprintf(c.notes, "There are more: use --all, or --cursor %s\n", page.Next)
			}
			return nil
		}
		query.Set("cursor", page.Next)
		seen[page.Next] = true
	}
}

// printAll prints the elements of all pages of a list as one array.
func (c *calling) printAll(all []json.RawMessage) error {
	if all == nil {
		all = []json.RawMessage{}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return failure{error: err, json: true}
	}
	return c.print(raw)
}

// bodyOf returns the body: that of the flag body, with the members that have flags of their own.
func (c *calling) bodyOf(cmd *cobra.Command) (any, error) {
	if !c.takesBody {
		return nil, nil
	}
	text, err := []byte(c.raw), error(nil)
	switch file, isFile := strings.CutPrefix(c.raw, "@"); {
	case c.raw == "-":
		text, err = io.ReadAll(cmd.InOrStdin())
	case isFile:
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("--body: %w", err)
	}
	body := map[string]any{}
	if len(text) > 0 {
		var wrong *json.UnmarshalTypeError
		switch err := json.Unmarshal(text, &body); {
		case errors.As(err, &wrong):
			return nil, fmt.Errorf("--body must be a JSON object, not %s", wrong.Value)
		case err != nil:
			return nil, fmt.Errorf("--body must be a JSON object: %w", err)
		case body == nil:
			return nil, errors.New("--body must be a JSON object, not null")
		}
	}
	maps.Copy(body, given(cmd.Flags(), c.body))
	if len(body) == 0 && c.bodyOptional {
		return nil, nil
	}
	return body, nil
}

// queryOf writes a query. Several values are separated by commas, and pairs are name[key].
func queryOf(values map[string]any) url.Values {
	query := url.Values{}
	for name, value := range values {
		switch v := value.(type) {
		case []string:
			query.Set(name, strings.Join(v, ","))
		case map[string]string:
			for key, one := range v {
				query.Set(name+"["+key+"]", one)
			}
		default:
			query.Set(name, fmt.Sprint(v))
		}
	}
	return query
}

// client returns the client of a call.
func (c *calling) client() (*contentautomation.Client, error) {
	if c.insecure {
		return newClient(c.machine, c.key, c.base, contentautomation.WithInsecure())
	}
	return newClient(c.machine, c.key, c.base)
}

// newClient returns a client with the key and the base URL of flags, variables or the last login.
func newClient(w machine, key, base string, more ...contentautomation.Option) (*contentautomation.Client, error) {
	key, base, err := w.access(key, base)
	if err != nil {
		return nil, err
	}
	if _, err := contentautomation.New(contentautomation.WithBaseURL("https://127.0.0.1"),
		contentautomation.WithAPIKey(key)); err != nil {
		return nil, failure{error: wrongKey{err}}
	}
	options := []contentautomation.Option{contentautomation.WithBaseURL(base), contentautomation.WithAPIKey(key),
		contentautomation.WithUserAgent("content-automation-cli"), contentautomation.WithClock(w.now, w.wait)}
	return contentautomation.New(append(options, more...)...)
}

// print prints data: as JSON, or a line for each member or element.
func (c *calling) print(raw json.RawMessage) error {
	if c.json {
		_, err := fmt.Fprintf(c.out, "%s\n", raw)
		return err
	}
	var list []map[string]any
	if json.Unmarshal(raw, &list) == nil {
		for _, one := range list {
			fmt.Fprintln(c.out, line(one))
		}
		return nil
	}
	var one map[string]any
	if err := json.Unmarshal(raw, &one); err != nil {
		return failure{error: err, json: c.json}
	}
	for _, name := range slices.Sorted(maps.Keys(one)) {
		if text := show(one[name]); text != "" {
			fmt.Fprintf(c.out, "%-20s %s\n", name, text)
		}
	}
	return nil
}

// line shows an element of a list by the members that tell it from others.
func line(one map[string]any) string {
	var parts []string
	for _, name := range []string{"id", "created_at", "at", "type", "kind", "platform", "state", "name", "title", "operation_id",
		"status", "url"} {
		if text := show(one[name]); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "  ")
}

// show writes a value. Nothing stands for null and for what is empty.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.ReplaceAll(v, "\n", "\\n")
	default:
		text, _ := json.Marshal(v)
		if s := string(text); s != "[]" && s != "{}" {
			return s
		}
		return ""
	}
}
