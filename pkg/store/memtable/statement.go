package memtable

import (
	"context"
	"maps"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// maxStatements is the largest number of statements in a call.
const maxStatements = 25

// statement is UPDATE "table" SET a=? REMOVE b WHERE c=?, with any number of each. Its parameters are in the order of
// the attributes that have one.
type statement struct {
	table              string
	set, remove, where []string
}

// statements caches parsed statements by their text.
var statements sync.Map

func parseStatement(text string) (*statement, error) {
	if known, ok := statements.Load(text); ok {
		return known.(*statement), nil
	}
	s := &statement{}
	if err := (&parser{}).run(text, s.read); err != nil {
		return nil, err
	}
	statements.Store(text, s)
	return s, nil
}

func (s *statement) read(p *parser) {
	p.expect("UPDATE")
	s.table = strings.Trim(p.next(), `"`)
	name := func() string { return strings.Trim(p.next(), `"`) }
	parameter := func() string {
		n := name()
		p.expect("=")
		p.expect("?")
		return n
	}
	for {
		switch {
		case p.keyword("SET"):
			s.set = append(s.set, parameter())
		case p.keyword("REMOVE"):
			s.remove = append(s.remove, name())
		default:
			p.expect("WHERE")
			s.where = append(s.where, parameter())
			for p.keyword("AND") {
				s.where = append(s.where, parameter())
			}
			return
		}
	}
}

// BatchExecuteStatement executes statements of PartiQL independently.
func (e *Engine) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput,
	options ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	if err := admit(ctx, options); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.unlock()
	if n := len(in.Statements); n < 1 || n > maxStatements {
		return nil, invalid("Member must have length less than or equal to %d, and greater than or equal to 1: %d "+
			"statements", maxStatements, n)
	}
	out := &dynamodb.BatchExecuteStatementOutput{Responses: make([]types.BatchStatementResponse, len(in.Statements))}
	for _, s := range in.Statements {
		for _, v := range s.Parameters {
			if _, err := stored(v); err != nil {
				return nil, err
			}
		}
	}
	for i, s := range in.Statements {
		out.Responses[i] = e.execute(s)
	}
	return out, nil
}

func (e *Engine) execute(in types.BatchStatementRequest) types.BatchStatementResponse {
	refused := func(code types.BatchStatementErrorCodeEnum, message string, shown item) types.BatchStatementResponse {
		return types.BatchStatementResponse{Error: &types.BatchStatementError{Code: code, Message: &message,
			Item: shown}}
	}
	w, err := e.prepared(in)
	if err != nil {
		return refused(types.BatchStatementErrorCodeEnumValidationError, err.Error(), nil)
	}
	before, after, err := w.prepare()
	switch {
	case err == errFailed:
		return refused(types.BatchStatementErrorCodeEnumConditionalCheckFailed, *errFailed.Message, w.shown(before))
	case err != nil:
		return refused(types.BatchStatementErrorCodeEnumValidationError, err.Error(), nil)
	}
	e.replace(w.table, before, after)
	return types.BatchStatementResponse{TableName: &w.table.name}
}

// prepared returns the write of a statement.
func (e *Engine) prepared(in types.BatchStatementRequest) (*write, error) {
	s, err := parseStatement(aws.ToString(in.Statement))
	if err != nil {
		return nil, err
	}
	t, err := e.table(&s.table)
	if err != nil {
		return nil, err
	}
	if len(in.Parameters) != len(s.set)+len(s.where) {
		return nil, invalid("Number of parameters in request and statement don't match.")
	}
	kept := make([]value, len(in.Parameters))
	for i, v := range in.Parameters {
		if kept[i], err = stored(v); err != nil {
			return nil, err
		}
	}
	w := &write{table: t, key: item{},
		show: in.ReturnValuesOnConditionCheckFailure == types.ReturnValuesOnConditionCheckFailureAllOld}
	cond := &node{op: "attribute_exists", args: []*operand{{ref: t.main.hash}}}
	w.scope.values = item{}
	for i, name := range s.where {
		v := kept[len(s.set)+i]
		w.scope.values[":"+name] = v
		cond = &node{op: "AND", kids: []*node{cond, {op: "=", args: []*operand{{ref: name}, {ref: ":" + name}}}}}
		if name == t.main.hash || name == t.main.sort {
			w.key[name] = v
		}
	}
	w.cond = &expression{root: cond}
	if w.key, err = t.checkKey(t.main, w.key); err != nil {
		return nil, err
	}
	u := &update{remove: s.remove}
	for _, name := range s.set {
		u.set = append(u.set, assignment{path: name})
	}
	w.after = func(s scope) (item, error) {
		after := maps.Clone(s.item)
		for i, a := range u.set {
			after[a.path] = kept[i]
		}
		for _, name := range u.remove {
			delete(after, name)
		}
		return after, nil
	}
	return w, w.scope.checkUpdate(t, u)
}
