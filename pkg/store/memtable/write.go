package memtable

import (
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// The bounds of transactions.
const (
	maxWrites      = 100
	maxWriteBytes  = 4 << 20
	tokenRemembers = 10 * time.Minute
)

// write is a checked write: its condition and its effect on the item.
type write struct {
	table *table
	key   item
	scope scope
	cond  *expression
	// newItem makes the new item from the scope's, or nil to remove it. Without after, the write only checks its
	// condition.
	newItem func(scope) (item, error)
	show    bool // whether a failed condition shows the item
}

// errFailed reports a condition that does not hold.
var errFailed = &types.ConditionalCheckFailedException{Message: aws.String("The conditional request failed")}

// prepare evaluates a write on the item as it is.
func (w *write) prepare() (before, after *version, err error) {
	before = versionOf(w.table.get(w.key))
	s := w.scope
	if before != nil {
		s.item = before.item
	}
	if !s.holds(w.cond) {
		return before, nil, errFailed
	}
	if w.newItem == nil {
		return before, before, nil
	}
	it, err := w.newItem(s)
	if err != nil || it == nil {
		return before, nil, err
	}
	after, err = w.table.checkItem(it)
	return before, after, err
}

// shown returns the item that a failed condition shows.
func (w *write) shown(before *version) item {
	if !w.show || before == nil {
		return nil
	}
	return maps.Clone(before.item)
}

func itemOf(v *version) item {
	if v == nil {
		return nil
	}
	return maps.Clone(v.item)
}

func (e *Engine) write(in types.TransactWriteItem) (*write, error) {
	switch {
	case in.Put != nil:
		return e.put(in.Put)
	case in.Update != nil:
		return e.update(in.Update)
	case in.Delete != nil:
		w, err := e.check(&types.ConditionCheck{
			TableName: in.Delete.TableName, Key: in.Delete.Key, ConditionExpression: in.Delete.ConditionExpression,
			ExpressionAttributeNames:            in.Delete.ExpressionAttributeNames,
			ExpressionAttributeValues:           in.Delete.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: in.Delete.ReturnValuesOnConditionCheckFailure,
		})
		if err == nil {
			w.newItem = func(scope) (item, error) { return nil, nil }
		}
		return w, err
	case in.ConditionCheck != nil:
		return e.check(in.ConditionCheck)
	default:
		return nil, invalid("TransactItems can only contain one of Check, Put, Update or Delete")
	}
}

func (e *Engine) put(in *types.Put) (*write, error) {
	kept, err := storedAll(in.Item)
	if err != nil {
		return nil, err
	}
	t, err := e.table(in.TableName)
	if err != nil {
		return nil, err
	}
	if _, err := t.checkItem(kept); err != nil {
		return nil, err
	}
	key := item{}
	for _, name := range t.main.names() {
		key[name] = kept[name]
	}
	check := types.ConditionCheck{
		TableName: in.TableName, Key: key, ConditionExpression: in.ConditionExpression,
		ExpressionAttributeNames:            in.ExpressionAttributeNames,
		ExpressionAttributeValues:           in.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
	}
	w, err := e.check(&check)
	if err == nil {
		w.newItem = func(scope) (item, error) { return kept, nil }
	}
	return w, err
}

func (e *Engine) update(in *types.Update) (*write, error) {
	change := &expression{update: &update{}}
	if in.UpdateExpression != nil {
		var err error
		if change, err = parseUpdate(*in.UpdateExpression); err != nil {
			return nil, err
		}
	}
	check := types.ConditionCheck{
		TableName: in.TableName, Key: in.Key, ConditionExpression: in.ConditionExpression,
		ExpressionAttributeNames:            in.ExpressionAttributeNames,
		ExpressionAttributeValues:           in.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
	}
	w, err := e.check(&check, change)
	if err != nil {
		return nil, err
	}
	w.newItem = func(s scope) (item, error) { return s.updated(w.key, change.update) }
	return w, w.scope.checkUpdate(w.table, change.update)
}

// check checks the parts that all writes have. The other expressions use its placeholders, too.
func (e *Engine) check(in *types.ConditionCheck, others ...*expression) (*write, error) {
	t, err := e.table(in.TableName)
	if err != nil {
		return nil, err
	}
	w := &write{table: t}
	w.show = in.ReturnValuesOnConditionCheckFailure == types.ReturnValuesOnConditionCheckFailureAllOld
	if w.key, err = t.checkKey(t.main, in.Key); err != nil {
		return nil, err
	}
	if w.cond, err = conditionOf(in.ConditionExpression); err != nil {
		return nil, err
	}
	w.scope, err = newScope(in.ExpressionAttributeNames, in.ExpressionAttributeValues, append(others, w.cond)...)
	return w, err
}

// PutItem writes an item.
func (e *Engine) PutItem(ctx context.Context, in *dynamodb.PutItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if err := returnsOld(in.ReturnValues); err != nil {
		return nil, err
	}
	shown, err := e.one(ctx, options, in.ReturnValues, types.TransactWriteItem{Put: &types.Put{
		TableName: in.TableName, Item: in.Item, ConditionExpression: in.ConditionExpression,
		ExpressionAttributeNames: in.ExpressionAttributeNames, ExpressionAttributeValues: in.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
	}})
	return &dynamodb.PutItemOutput{Attributes: shown}, err
}

// UpdateItem changes an item, or creates it.
func (e *Engine) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	shown, err := e.one(ctx, options, in.ReturnValues, types.TransactWriteItem{Update: &types.Update{
		TableName: in.TableName, Key: in.Key, UpdateExpression: in.UpdateExpression,
		ConditionExpression:      in.ConditionExpression,
		ExpressionAttributeNames: in.ExpressionAttributeNames, ExpressionAttributeValues: in.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
	}})
	return &dynamodb.UpdateItemOutput{Attributes: shown}, err
}

// DeleteItem removes an item.
func (e *Engine) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	if err := returnsOld(in.ReturnValues); err != nil {
		return nil, err
	}
	shown, err := e.one(ctx, options, in.ReturnValues, types.TransactWriteItem{Delete: &types.Delete{
		TableName: in.TableName, Key: in.Key, ConditionExpression: in.ConditionExpression,
		ExpressionAttributeNames: in.ExpressionAttributeNames, ExpressionAttributeValues: in.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
	}})
	return &dynamodb.DeleteItemOutput{Attributes: shown}, err
}

// one executes a single write, and returns the item that its call shows.
func (e *Engine) one(ctx context.Context, options []func(*dynamodb.Options), show types.ReturnValue,
	in types.TransactWriteItem) (item, error) {
	if err := admit(ctx, options); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.unlock()
	w, err := e.write(in)
	if err != nil {
		return nil, err
	}
	before, after, err := w.prepare()
	switch {
	case err == errFailed:
		return nil, &types.ConditionalCheckFailedException{Message: errFailed.Message, Item: w.shown(before)}
	case err != nil:
		return nil, err
	}
	shown, err := returned(show, before, after)
	if err == nil {
		e.replace(w.table, before, after)
	}
	return shown, err
}

// returnsOld checks ReturnValues of a call that never returns a new item.
func returnsOld(which types.ReturnValue) error {
	switch which {
	case "", types.ReturnValueNone, types.ReturnValueAllOld:
		return nil
	default:
		return invalid("Return values set to invalid value")
	}
}

// returned returns the item that ReturnValues selects.
func returned(which types.ReturnValue, before, after *version) (item, error) {
	switch which {
	case "", types.ReturnValueNone:
		return nil, nil
	case types.ReturnValueAllOld:
		return itemOf(before), nil
	case types.ReturnValueAllNew:
		return itemOf(after), nil
	default:
		return nil, invalid("memtable: ReturnValues may not be %s", which)
	}
}

// tokens are the request tokens of executed transactions.
type tokens struct {
	transactions map[string]transaction
	order        []string // oldest first
}

// transaction is an executed transaction: a digest of its writes, which would take much memory.
type transaction struct {
	digest uint64
	at     time.Time
}

var digestSeed = maphash.MakeSeed()

// digest returns the same number for the same writes.
func digest(writes []types.TransactWriteItem) uint64 {
	var h maphash.Hash
	h.SetSeed(digestSeed)
	part := func(kind byte, it item, names map[string]string, values item, texts ...*string) {
		_ = h.WriteByte(kind)
		for _, text := range texts {
			_, _ = h.WriteString(strconv.Quote(aws.ToString(text)))
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			_, _ = h.WriteString(strconv.Quote(name) + strconv.Quote(names[name]))
		}
		_, _ = h.Write(EncodeItem(it))
		_, _ = h.Write(EncodeItem(values))
	}
	for _, w := range writes {
		if p := w.Put; p != nil {
			part('p', p.Item, p.ExpressionAttributeNames, p.ExpressionAttributeValues, p.TableName,
				p.ConditionExpression, (*string)(&p.ReturnValuesOnConditionCheckFailure))
		}
		if u := w.Update; u != nil {
			part('u', u.Key, u.ExpressionAttributeNames, u.ExpressionAttributeValues, u.TableName,
				u.ConditionExpression, u.UpdateExpression, (*string)(&u.ReturnValuesOnConditionCheckFailure))
		}
		if d := w.Delete; d != nil {
			part('d', d.Key, d.ExpressionAttributeNames, d.ExpressionAttributeValues, d.TableName,
				d.ConditionExpression, (*string)(&d.ReturnValuesOnConditionCheckFailure))
		}
		if c := w.ConditionCheck; c != nil {
			part('c', c.Key, c.ExpressionAttributeNames, c.ExpressionAttributeValues, c.TableName,
				c.ConditionExpression, (*string)(&c.ReturnValuesOnConditionCheckFailure))
		}
	}
	return h.Sum64()
}

// forget removes the tokens that have expired.
func (t *tokens) forget(now time.Time) {
	for len(t.order) > 0 && now.Sub(t.transactions[t.order[0]].at) >= tokenRemembers {
		delete(t.transactions, t.order[0])
		t.order = t.order[1:]
	}
}

// TransactWriteItems executes all writes or none.
func (e *Engine) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if err := admit(ctx, options); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.unlock()
	if n := len(in.TransactItems); n < 1 || n > maxWrites {
		return nil, invalid("Member must have length less than or equal to %d, and greater than or equal to 1: %d "+
			"writes", maxWrites, n)
	}
	e.tokens.forget(e.now())
	token := aws.ToString(in.ClientRequestToken)
	if len(token) > 36 {
		return nil, invalid("ClientRequestToken must have a length of at most 36")
	}
	if done, known := e.tokens.transactions[token]; known {
		if done.digest != digest(in.TransactItems) {
			return nil, &types.IdempotentParameterMismatchException{Message: aws.String(
				"another transaction had the same token")}
		}
		return &dynamodb.TransactWriteItemsOutput{}, nil
	}
	writes, err := e.writes(in.TransactItems)
	if err != nil {
		return nil, err
	}
	befores, afters := make([]*version, len(writes)), make([]*version, len(writes))
	reasons, canceled, bytes := make([]types.CancellationReason, len(writes)), false, 0
	for i, w := range writes {
		reasons[i].Code = aws.String("None")
		if befores[i], afters[i], err = w.prepare(); err != nil {
			reasons[i], canceled = w.reason(befores[i], err), true
		}
		if w.newItem != nil && afters[i] != nil {
			bytes += int(afters[i].size)
		}
	}
	if canceled {
		return nil, &types.TransactionCanceledException{
			Message: aws.String("Transaction cancelled, please refer cancellation reasons for specific " +
				"reasons"),
			CancellationReasons: reasons,
		}
	}
	if bytes > maxWriteBytes {
		return nil, invalid("Transaction request cannot be larger than 4 MB")
	}
	for i, w := range writes {
		if w.newItem != nil {
			e.replace(w.table, befores[i], afters[i])
		}
	}
	if token != "" {
		e.tokens.transactions[token] = transaction{digest(in.TransactItems), e.now()}
		e.tokens.order = append(e.tokens.order, token)
	}
	return &dynamodb.TransactWriteItemsOutput{}, nil
}

// reason returns the reason for which a write cancels its transaction.
func (w *write) reason(before *version, err error) types.CancellationReason {
	if err == errFailed {
		return types.CancellationReason{Code: aws.String("ConditionalCheckFailed"), Message: errFailed.Message,
			Item: w.shown(before)}
	}
	message := err.Error()
	if api, ok := err.(smithy.APIError); ok {
		message = api.ErrorMessage()
	}
	return types.CancellationReason{Code: aws.String("ValidationError"), Message: &message}
}

// writes checks the writes of a transaction. No two may be of the same item.
func (e *Engine) writes(items []types.TransactWriteItem) ([]*write, error) {
	all := make([]*write, len(items))
	for i, in := range items {
		var err error
		if all[i], err = e.write(in); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all[:i], func(other *write) bool {
			return other.table == all[i].table && same(other.key, all[i].key)
		}) {
			return nil, invalid("Transaction request cannot include multiple operations on one item")
		}
	}
	return all, nil
}
