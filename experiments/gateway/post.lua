-- wrk sends this: one input, a different text each time.
local turn = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("BEARER")
request = function()
  turn = turn + 1
  local body = string.format('{"input":"text %d","model":"%s","encoding_format":"base64"}', turn, os.getenv("MODEL"))
  return wrk.format(nil, "/v1/embeddings", nil, body)
end
local threads = {}
setup = function(thread) table.insert(threads, thread) end
done = function(summary)
  print(string.format("requests %d  seconds %.1f  not 2xx %d  connect %d  read %d  write %d  timeout %d",
    summary.requests, summary.duration / 1e6, summary.errors.status, summary.errors.connect, summary.errors.read,
    summary.errors.write, summary.errors.timeout))
end
