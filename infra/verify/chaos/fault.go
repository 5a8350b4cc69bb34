package main

import (
	"net/http"
	"net/http/httptest"
	"time"
)

// writes are the calls that change a table.
var writes = []step{
	{operation: "PutItem"}, {operation: "UpdateItem"}, {operation: "DeleteItem"},
	{operation: "TransactWriteItems"}, {operation: "BatchWriteItem"},
}

// sends are the calls that send messages or events.
var sends = []step{{operation: "SendMessageBatch"}, {operation: "SendMessage"}, {operation: "PutEvents"}}

// doing is the effect of a fault on a call.
type doing = func(c call, w http.ResponseWriter, pass func(http.ResponseWriter))

// nobody returns the writer of a response that is lost.
func nobody() http.ResponseWriter { return httptest.NewRecorder() }

// killBefore kills the function before its call is carried out.
func killBefore(c call, _ http.ResponseWriter, _ func(http.ResponseWriter)) {
	_ = c.kill() // the function may have ended by itself
	panic(http.ErrAbortHandler)
}

// killAfter kills the function after its call is carried out, before the response arrives.
func killAfter(c call, _ http.ResponseWriter, pass func(http.ResponseWriter)) {
	pass(nobody())
	_ = c.kill()
	panic(http.ErrAbortHandler)
}

// loseAnswer carries the call out and closes the connection without a response.
func loseAnswer(_ call, _ http.ResponseWriter, pass func(http.ResponseWriter)) {
	pass(nobody())
	panic(http.ErrAbortHandler)
}

// freeze stops the function for a time before its call is carried out, and then lets it continue. If the function
// has ended in that time, the call is still carried out.
func freeze(d time.Duration) doing {
	return func(c call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		_ = c.stop() // the function may have ended by itself
		<-time.After(d)
		_ = c.resume()
		pass(w)
	}
}
