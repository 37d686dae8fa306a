-- The requests of one case, on songs in a hundred thousand. CASE says which, WRITES how many of a
-- hundred requests are plays.
local case = os.getenv("CASE") or "songs"
local writes = tonumber(os.getenv("WRITES") or "0")
local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init(arguments)
  math.randomseed(1000 + number)
end

local paths = {
  songs = function() return "/songs/" .. math.random(2, 99999) end,
  artists = function() return "/songs?artist=Artist%20" .. math.random(0, 1999) end,
  pages = function() return "/songs?offset=" .. math.random(50000, 99000) end,
  statistics = function() return "/statistics/artists" end,
}

function request()
  local path = paths[case]()
  if math.random(1, 100) <= writes then return wrk.format("POST", path .. "/plays") end
  return wrk.format("GET", path)
end

function done(summary, latency, requests)
  local errors = summary.errors
  print(string.format(
    "RESULT %.0f %.1f %.1f %d", summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
