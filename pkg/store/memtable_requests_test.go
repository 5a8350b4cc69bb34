package store_test

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// shows chooses whether a failed condition shows the item.
func (g *generator) shows() types.ReturnValuesOnConditionCheckFailure {
	return oneOf(g, "", types.ReturnValuesOnConditionCheckFailureNone, types.ReturnValuesOnConditionCheckFailureAllOld)
}

// next makes a call.
func (g *generator) next() call {
	switch g.IntN(15) {
	case 0, 1, 2:
		return g.put()
	case 3, 4, 5:
		return g.update()
	case 6:
		return g.remove()
	case 7, 8, 9:
		return g.transact()
	case 10:
		in := &dynamodb.GetItemInput{TableName: &g.table, Key: g.key(), ConsistentRead: aws.Bool(true)}
		return call{"GetItem", in, func(ctx context.Context,
			c *dynamodb.Client) (any, error) {
			return c.GetItem(ctx, in)
		}}
	case 11:
		return g.batch()
	default:
		return g.query()
	}
}

func (g *generator) put() call {
	w := g.words()
	in := &dynamodb.PutItemInput{
		TableName: &g.table, Item: g.item(g.key()), ConditionExpression: w.optional(),
		ReturnValuesOnConditionCheckFailure: g.shows(),
	}
	if g.IntN(20) == 0 {
		in.ReturnValues = oneOf(g, types.ReturnValueAllOld, types.ReturnValueAllNew, types.ReturnValueNone)
	}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = w.done()
	return call{"PutItem", in, func(ctx context.Context, c *dynamodb.Client) (any, error) { return c.PutItem(ctx, in) }}
}

func (g *generator) update() call {
	w := g.words()
	in := &dynamodb.UpdateItemInput{
		TableName: &g.table, Key: g.key(), UpdateExpression: aws.String(w.change()), ConditionExpression: w.optional(),
		ReturnValues:                        oneOf(g, types.ReturnValueAllNew, types.ReturnValueNone),
		ReturnValuesOnConditionCheckFailure: g.shows(),
	}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = w.done()
	return call{"UpdateItem", in, func(ctx context.Context,
		c *dynamodb.Client) (any, error) {
		return c.UpdateItem(ctx, in)
	}}
}

func (g *generator) remove() call {
	w := g.words()
	in := &dynamodb.DeleteItemInput{TableName: &g.table, Key: g.key(), ConditionExpression: w.optional(),
		ReturnValuesOnConditionCheckFailure: g.shows()}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = w.done()
	return call{"DeleteItem", in, func(ctx context.Context,
		c *dynamodb.Client) (any, error) {
		return c.DeleteItem(ctx, in)
	}}
}

// transact makes a transaction. Most of its writes are of different items.
func (g *generator) transact() call {
	in := &dynamodb.TransactWriteItemsInput{}
	n := 1 + g.IntN(3)
	if g.IntN(60) == 0 {
		n = oneOf(g, 0, 101)
	}
	for i := range n {
		w, show := g.words(), g.shows()
		key := g.key()
		// DynamoDB Local carries out two writes of one item if a condition fails.
		if key["sk"] != nil && text(key["sk"]) != "" {
			key["sk"] = str(string(rune('1' + i)))
		}
		var to types.TransactWriteItem
		switch g.IntN(6) {
		case 0, 1:
			put := &types.Put{TableName: &g.table, Item: g.item(key), ConditionExpression: w.optional(),
				ReturnValuesOnConditionCheckFailure: show}
			put.ExpressionAttributeNames, put.ExpressionAttributeValues = w.done()
			to.Put = put
		case 2, 3:
			change := &types.Update{TableName: &g.table, Key: key, UpdateExpression: aws.String(w.change()),
				ConditionExpression: w.optional(), ReturnValuesOnConditionCheckFailure: show}
			change.ExpressionAttributeNames, change.ExpressionAttributeValues = w.done()
			to.Update = change
		case 4:
			remove := &types.Delete{TableName: &g.table, Key: key, ConditionExpression: w.optional(),
				ReturnValuesOnConditionCheckFailure: show}
			remove.ExpressionAttributeNames, remove.ExpressionAttributeValues = w.done()
			to.Delete = remove
		default:
			check := &types.ConditionCheck{TableName: &g.table, Key: key,
				ConditionExpression: aws.String(w.condition(1)), ReturnValuesOnConditionCheckFailure: show}
			check.ExpressionAttributeNames, check.ExpressionAttributeValues = w.done()
			to.ConditionCheck = check
		}
		in.TransactItems = append(in.TransactItems, to)
	}
	return call{"TransactWriteItems", in,
		func(ctx context.Context, c *dynamodb.Client) (any, error) { return c.TransactWriteItems(ctx, in) }}
}

func (g *generator) batch() call {
	var keys []item
	n := 1 + g.IntN(3)
	if g.IntN(30) == 0 {
		n = oneOf(g, 0, 101)
	}
	for i := range n {
		k := g.key()
		if i > 0 && k["sk"] != nil && !g.rarely() {
			k["sk"] = str(strings.Repeat("2", i))
		}
		keys = append(keys, k)
	}
	in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{g.table: {Keys: keys,
		ConsistentRead: aws.Bool(true)}}}
	return call{"BatchGetItem", in,
		func(ctx context.Context, c *dynamodb.Client) (any, error) { return c.BatchGetItem(ctx, in) }}
}

// query makes a query of the table or of an index.
func (g *generator) query() call {
	w := g.words()
	index := oneOf(g, "", "owner", "parent", "due")
	pk, sk, first := "pk", "sk", oneOf(g, "a", "b")
	if index != "" {
		pk, sk, first = index+"_pk", index+"_sk", oneOf(g, "o", "p")
	}
	if g.IntN(40) == 0 {
		pk, sk = oneOf(g, "x_a", "sk"), oneOf(g, "pk", "x_a")
	}
	partition := short(g.keyValue(first)) // DynamoDB Local does not check how long this is
	condition := w.name(pk) + " = " + w.value(partition)
	from, to := g.keyValue(oneOf(g, "1", "a1", "b1")), g.keyValue(oneOf(g, "2", "3", "a3", "b3"))
	switch g.IntN(8) {
	case 0:
		condition += " AND " + w.name(sk) + oneOf(g, " >= ", " <= ", " > ", " < ", " = ") + w.value(from)
	case 1:
		condition += " AND " + w.name(sk) + " BETWEEN " + w.value(from) + " AND " + w.value(to)
	case 2:
		condition = "begins_with(" + w.name(sk) + ", " + w.value(from) + ") AND " + condition
	case 3:
		if g.IntN(6) == 0 {
			condition += oneOf(g, " OR ", " AND ") + w.name(sk) + oneOf(g, " <> ", " = ") + w.value(from)
		}
	}
	in := &dynamodb.QueryInput{TableName: &g.table, KeyConditionExpression: &condition,
		ScanIndexForward: aws.Bool(g.IntN(2) == 0)}
	if g.IntN(2) == 0 {
		in.Limit = aws.Int32(int32(oneOf(g, 1, 2, 3, 100)))
		if g.IntN(30) == 0 {
			in.Limit = aws.Int32(0)
		}
	}
	if index != "" {
		in.IndexName = aws.String("by_" + index)
		if g.rarely() {
			in.IndexName = aws.String("by_nothing")
		}
	}
	if index == "" || g.rarely() {
		in.ConsistentRead = aws.Bool(true)
	}
	if index != "due" || g.IntN(4) == 0 {
		if g.IntN(2) == 0 {
			in.FilterExpression = aws.String(w.condition(2))
		}
	}
	if g.IntN(3) == 0 {
		in.ExclusiveStartKey = g.key()
		if index != "" && !g.rarely() {
			place := text(in.ExclusiveStartKey["pk"]) + text(in.ExclusiveStartKey["sk"])
			in.ExclusiveStartKey[index+"_pk"], in.ExclusiveStartKey[index+"_sk"] = g.keyValue(first), g.keyValue(place)
		}
	}
	for name, v := range in.ExclusiveStartKey {
		in.ExclusiveStartKey[name] = short(v) // DynamoDB Local does not check how long this is
	}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = w.done()
	return call{"Query", in, func(ctx context.Context, c *dynamodb.Client) (any, error) { return c.Query(ctx, in) }}
}
