package memtable

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

type expression struct {
	root   *node   // of a condition, a filter or a key condition
	update *update // of an update
	// refs are the placeholders that it uses. paths are the attributes that it names, directly or by a placeholder.
	refs, paths []string
}

// node is a part of a condition.
type node struct {
	// op is AND, OR, NOT, a comparison, BETWEEN, IN or the name of a function.
	op   string
	kids []*node
	args []*operand
	// enclosed reports whether it is in parentheses.
	enclosed bool
}

// operand is a side of a comparison, or the new value in an update.
type operand struct {
	// op is "" for a path or a value, or size, if_not_exists, + or -.
	op   string
	ref  string // a path, or a value if it begins with a colon
	args []*operand
}

type update struct {
	set    []assignment
	add    []assignment
	remove []string
}

type assignment struct {
	path string
	to   *operand
}

// parsed caches parsed expressions by grammar and text.
var parsed sync.Map

// parse parses an expression by a grammar. The cache uses the grammar's name.
func parse(name, text string, grammar func(*parser)) (*expression, error) {
	if known, ok := parsed.Load(name + text); ok {
		return known.(*expression), nil
	}
	if len(text) > maxExpression {
		return nil, invalid("Invalid expression: Expression size has exceeded the maximum allowed size; expression "+
			"size: %d", len(text))
	}
	p := &parser{}
	if err := p.run(text, grammar); err != nil {
		return nil, err
	}
	if err := checkCounts(p.root); err != nil {
		return nil, err
	}
	parsed.Store(name+text, &p.expression)
	return &p.expression, nil
}

func parseCondition(text string) (*expression, error) {
	return parse("condition ", text, func(p *parser) { p.root = p.or() })
}

func parseUpdate(text string) (*expression, error) {
	return parse("update ", text, (*parser).clauses)
}

// parser reads an expression from its tokens. It panics with a syntaxError.
type parser struct {
	expression
	tokens []string
}

type syntaxError struct{ error }

func (p *parser) run(text string, grammar func(*parser)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			syntax, ok := r.(syntaxError)
			if !ok {
				panic(r)
			}
			err = syntax.error
		}
	}()
	p.tokens = split(text)
	grammar(p)
	if p.peek() != "" {
		p.fail(p.peek())
	}
	return nil
}

func (p *parser) fail(token string) {
	panic(syntaxError{&smithy.GenericAPIError{
		Code: "ValidationException", Message: "Invalid expression: Syntax error; token: " + token,
		Fault: smithy.FaultClient,
	}})
}

// split splits an expression into operators and names with their prefixes.
func split(text string) []string {
	word := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	var all []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		n := 1
		switch {
		case strings.HasPrefix(text, "<="), strings.HasPrefix(text, ">="), strings.HasPrefix(text, "<>"):
			n = 2
		case text[0] == '"':
			n = 2 + strings.IndexByte(text[1:], '"')
		case strings.ContainsRune("#:", rune(text[0])) || word(rune(text[0])):
			for n < len(text) && word(rune(text[n])) {
				n++
			}
		}
		n = max(n, 1)
		all = append(all, text[:n])
		text = text[n:]
	}
	return all
}

func (p *parser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *parser) next() string {
	token := p.peek()
	if token == "" {
		p.fail("<EOF>")
	}
	p.tokens = p.tokens[1:]
	return token
}

// keyword takes the next token if it is the given word.
func (p *parser) keyword(word string) bool {
	if !strings.EqualFold(p.peek(), word) {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *parser) expect(word string) {
	if !p.keyword(word) {
		p.fail(p.next())
	}
}

func (p *parser) or() *node {
	n := p.and()
	for p.keyword("OR") {
		n = &node{op: "OR", kids: []*node{n, p.and()}}
	}
	return n
}

func (p *parser) and() *node {
	n := p.not()
	for p.keyword("AND") {
		n = &node{op: "AND", kids: []*node{n, p.not()}}
	}
	return n
}

func (p *parser) not() *node {
	if p.keyword("NOT") {
		return &node{op: "NOT", kids: []*node{p.not()}}
	}
	if p.keyword("(") {
		n := p.or()
		p.expect(")")
		if n.enclosed {
			panic(syntaxError{invalid("Invalid expression: The expression has redundant parentheses;")})
		}
		n.enclosed = true
		return n
	}
	return p.comparison()
}

var functions = []string{"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains"}

func (p *parser) comparison() *node {
	if slices.Contains(functions, p.peek()) {
		n := &node{op: p.next()}
		p.expect("(")
		n.args = p.operands()
		want := 2
		if strings.HasSuffix(n.op, "_exists") {
			want = 1
		}
		if len(n.args) != want || isValue(n.args[0]) {
			p.fail(n.op)
		}
		return n
	}
	left := p.operand()
	switch op := strings.ToUpper(p.next()); op {
	case "=", "<>", "<", "<=", ">", ">=":
		return &node{op: op, args: []*operand{left, p.operand()}}
	case "BETWEEN":
		from := p.operand()
		p.expect("AND")
		return &node{op: op, args: []*operand{left, from, p.operand()}}
	case "IN":
		p.expect("(")
		return &node{op: op, args: append([]*operand{left}, p.operands()...)}
	default:
		p.fail(op)
		return nil
	}
}

// operands reads the operands up to the closing parenthesis. The opening one was read.
func (p *parser) operands() []*operand {
	all := []*operand{p.operand()}
	for p.keyword(",") {
		all = append(all, p.operand())
	}
	p.expect(")")
	return all
}

func (p *parser) operand() *operand {
	if p.keyword("size") {
		p.expect("(")
		return &operand{op: "size", args: p.operands()}
	}
	token := p.next()
	if token[0] == ':' {
		p.refs = append(p.refs, token)
		return &operand{ref: token}
	}
	return &operand{ref: p.path(token)}
}

func isValue(o *operand) bool { return strings.HasPrefix(o.ref, ":") }

// path reads the name of an attribute.
func (p *parser) path(token string) string {
	switch {
	case token[0] == '#':
		p.refs = append(p.refs, token)
	case !unicode.IsLetter(rune(token[0])):
		p.fail(token)
	}
	if next := p.peek(); next == "." || next == "[" {
		panic(syntaxError{invalid("memtable: expressions name attributes of the item only, no parts of them: %s%s",
			token, next)})
	}
	p.paths = append(p.paths, token)
	return token
}

func (p *parser) clauses() {
	p.update = &update{}
	seen := map[string]bool{}
	for p.peek() != "" {
		clause := strings.ToUpper(p.next())
		if seen[clause] {
			panic(syntaxError{invalid("Invalid UpdateExpression: The %q section can only be used once in an update "+
				"expression", clause)})
		}
		seen[clause] = true
		for more := true; more; more = p.keyword(",") {
			switch clause {
			case "SET":
				path := p.path(p.next())
				p.expect("=")
				p.update.set = append(p.update.set, assignment{path, p.arithmetic()})
			case "ADD":
				p.update.add = append(p.update.add, assignment{p.path(p.next()), p.operand()})
			case "REMOVE":
				p.update.remove = append(p.update.remove, p.path(p.next()))
			default:
				p.fail(clause)
			}
		}
	}
}

// arithmetic reads the new value of an attribute.
func (p *parser) arithmetic() *operand {
	left := p.settable()
	if op := p.peek(); op == "+" || op == "-" {
		p.next()
		return &operand{op: op, args: []*operand{left, p.settable()}}
	}
	return left
}

func (p *parser) settable() *operand {
	if !p.keyword("if_not_exists") {
		return p.operand()
	}
	p.expect("(")
	o := &operand{op: "if_not_exists", args: []*operand{{ref: p.path(p.next())}}}
	p.expect(",")
	o.args = append(o.args, p.settable())
	p.expect(")")
	return o
}

// checkRefs checks that the expressions of a call use exactly the placeholders that it defines.
func checkRefs(names map[string]string, values map[string]types.AttributeValue, all ...*expression) error {
	used := map[string]bool{}
	for _, x := range all {
		if x == nil {
			continue
		}
		for _, ref := range x.refs {
			used[ref] = true
			_, isName := names[ref]
			_, isValue := values[ref]
			if !isName && !isValue {
				return invalid("Invalid expression: An expression attribute name or value used in the expression is "+
					"not defined: %s", ref)
			}
		}
	}
	for ref := range names {
		if !used[ref] {
			return invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", ref)
		}
	}
	for ref := range values {
		if !used[ref] {
			return invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", ref)
		}
	}
	return nil
}
