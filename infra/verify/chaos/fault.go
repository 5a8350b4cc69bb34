package main

import (
	"net/http"
	"net/http/httptest"
	"time"
)

// writes are the calls that change a table.
var writes = []step{
	{operation: "PutItem"}, {operation: "UpdateItem"}, {operation: "DeleteItem"},
	{operation: "TransactWriteItems"}, {operation: "BatchWriteItem"}, {operation: "BatchExecuteStatement"},
}

// sends are the calls that send something on.
var sends = []step{{operation: "SendMessageBatch"}, {operation: "SendMessage"}, {operation: "PutEvents"}}

// doing is what a fault does to a call.
type doing = func(c call, w http.ResponseWriter, pass func(http.ResponseWriter))

// nobody is the writer of an answer that is lost.
func nobody() http.ResponseWriter { return httptest.NewRecorder() }

// killBefore ends the function before what it asks for is done.
func killBefore(c call, _ http.ResponseWriter, _ func(http.ResponseWriter)) {
	_ = c.kill() // it may have ended by itself
	panic(http.ErrAbortHandler)
}

// killAfter ends the function when what it asks for is done, before it knows.
func killAfter(c call, _ http.ResponseWriter, pass func(http.ResponseWriter)) {
	pass(nobody())
	_ = c.kill()
	panic(http.ErrAbortHandler)
}

// loseAnswer does what is asked for, and closes the connection without an answer.
func loseAnswer(_ call, _ http.ResponseWriter, pass func(http.ResponseWriter)) {
	pass(nobody())
	panic(http.ErrAbortHandler)
}

// freeze stops the function for a time before what it asks for is done, and lets it
// go on then. Where it has been ended meanwhile, what it asked for is done all the same.
func freeze(d time.Duration) doing {
	return func(c call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		_ = c.stop() // it may have ended by itself
		<-time.After(d)
		_ = c.resume()
		pass(w)
	}
}
