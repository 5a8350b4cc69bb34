package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

type statementsInput struct {
	Statements []struct {
		Statement  string
		Parameters []json.RawMessage
	}
}

// plan is what a statement does: it updates the item that the last parameters name
// by its keys and its version.
type plan struct{ sets, removes []string }

// planOf reads a statement as the store writes it, and no other.
func planOf(text string) (*plan, error) {
	p := &plan{}
	words := strings.Fields(text)
	if len(words) < 2 || words[0] != "UPDATE" {
		return nil, fmt.Errorf("the double does not know the statement %q", text)
	}
	for i := 2; i+1 < len(words); i += 2 {
		switch name, isSet := strings.CutSuffix(words[i+1], "=?"); {
		case words[i] == "SET" && isSet:
			p.sets = append(p.sets, name)
		case words[i] == "REMOVE" && !isSet:
			p.removes = append(p.removes, name)
		case strings.Join(words[i:], " ") == "WHERE pk=? AND sk=? AND ver=?":
			return p, nil
		default:
			return nil, fmt.Errorf("the double does not know the statement %q", text)
		}
	}
	return nil, fmt.Errorf("the double does not know the statement %q", text)
}

type statementResponse struct {
	Error *statementError `json:",omitempty"`
}

type statementError struct {
	Code, Message string
	Item          json.RawMessage `json:",omitempty"`
}

// executeStatements carries out each statement for itself.
func (d *double) executeStatements(in statementsInput) (any, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]statementResponse, len(in.Statements))
	for i, s := range in.Statements {
		p := d.plans[s.Statement]
		if p == nil {
			var err error
			if p, err = planOf(s.Statement); err != nil {
				return nil, err
			}
			d.plans[s.Statement] = p
		}
		if len(s.Parameters) != len(p.sets)+3 {
			return nil, fmt.Errorf("there are %d parameters for %q", len(s.Parameters), s.Statement)
		}
		var named [3]value
		for n, raw := range s.Parameters[len(p.sets):] {
			if err := json.Unmarshal(raw, &named[n]); err != nil {
				return nil, err
			}
		}
		all[i].Error = d.update(p, itemKey{named[0].S, named[1].S}, named[2].N, s.Parameters)
	}
	return map[string]any{"Responses": all}, nil
}

func (d *double) update(p *plan, key itemKey, version string, parameters []json.RawMessage) *statementError {
	it, there := d.items[key]
	if !there {
		return &statementError{Code: "ConditionalCheckFailed", Message: "The conditional request failed"}
	}
	if it.version != version {
		return &statementError{Code: "ConditionalCheckFailed", Message: "The conditional request failed", Item: it.text()}
	}
	for i, name := range p.sets {
		it.attributes[name] = parameters[i]
		if name == "ver" {
			var v value
			if err := json.Unmarshal(parameters[i], &v); err != nil {
				return &statementError{Code: "ValidationError", Message: err.Error()}
			}
			it.version = v.N
		}
	}
	for _, name := range p.removes {
		delete(it.attributes, name)
	}
	it.raw = nil
	return nil
}
