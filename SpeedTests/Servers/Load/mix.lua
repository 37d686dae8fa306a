-- The requests of one case, on songs in a hundred thousand. CASE says which, WRITES how many of a
-- hundred requests are plays.
local case = os.getenv("CASE") or "songs"
local writes = tonumber(os.getenv("WRITES") or "0")
local threads = {}

function setup(thread)
  table.insert(threads, thread)
  thread:set("number", #threads)
end

function init(arguments)
  math.randomseed(1000 + number)
  played = 0
end

local paths = {
  songs = function() return "/songs/" .. math.random(2, 99999) end,
  artists = function() return "/songs?artist=Artist%20" .. math.random(0, 1999) end,
  pages = function() return "/songs?offset=" .. math.random(50000, 99000) end,
  statistics = function() return "/statistics/artists" end,
}

-- Everything, in about the parts that a service has.
function paths.all()
  local part = math.random(1, 1000)
  if part <= 1 then return paths.statistics() end
  if part <= 10 then return paths.pages() end
  if part <= 100 then return paths.artists() end
  return paths.songs()
end

function request()
  if math.random(1, 100) <= writes then return wrk.format("POST", paths.songs() .. "/plays") end
  return wrk.format("GET", paths[case]())
end

-- If all requests are plays, the answered ones are counted.
if writes == 100 then
  function response(status)
    if status == 200 then played = played + 1 end
  end
end

function done(summary, latency, requests)
  local errors, plays = summary.errors, 0
  for _, thread in ipairs(threads) do plays = plays + thread:get("played") end
  print(string.format(
    "RESULT %.0f %.1f %.1f %d %d", summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout,
    plays))
end
